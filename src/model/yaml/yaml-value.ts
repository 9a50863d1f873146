import { goFloatKey, type GoScalar, INT64_MAX, resolveGoScalar } from './go-scalar.js';
import { YamlError } from './yaml-error.js';
import { quoteBriefly } from '../values/quote-briefly.js';
import { tooDeep, tooManyNodes, type YamlLimits } from './yaml-limits.js';
import type { YamlAlias, YamlMapping, YamlNode, YamlScalar } from './yaml-node.js';

import { STANDARD_TAG } from './yaml-tags.js';

/** The position of an issue that does not end the reading. */
export interface YamlFault {
  readonly message: string;
  readonly offset: number;
}

export interface YamlReading {
  /** Plain data of JSON, and the numbers that JSON does not have. */
  readonly value: unknown;
  /** Keys that occur twice. */
  readonly faults: readonly YamlFault[];
}

/** The most duplicate keys that are reported. */
const MOST_FAULTS = 20;

/**
 * Returns the data of a tree. The time is proportional to the tree and the copies of its aliases, which `limits`
 * bounds.
 *
 * Errors: `YamlError` for a node without a value, such as an alias within its own anchor.
 * Source: sigs.k8s.io/yaml YAMLToJSON, which uses the last of equal keys instead.
 */
export const yamlValue = (node: YamlNode, limits: YamlLimits): YamlReading => {
  const builder = new Builder(limits);
  return { value: builder.value(node), faults: builder.faults };
};

class Builder {
  readonly faults: YamlFault[] = [];
  readonly #limits: YamlLimits;
  readonly #within = new Set<YamlNode>();
  #nodes = 0;
  #characters = 0;
  #depth = 0;
  /** The position of the outermost alias that is being followed. */
  #alias: number | undefined;

  constructor(limits: YamlLimits) {
    this.#limits = limits;
  }

  value(node: YamlNode): unknown {
    if (node.kind === 'alias') return this.#follow(node);
    if (node.kind === 'scalar') {
      this.#count(1, node.text.length);
      return scalarValue(node);
    }
    this.#depth += 1;
    if (this.#depth > this.#limits.depth) throw new YamlError(tooDeep(this.#limits), this.#alias ?? node.offset);
    this.#count(1, 0);
    this.#within.add(node);
    const value = node.kind === 'sequence' ? node.items.map((item) => this.value(item)) : this.#mapping(node, {});
    this.#within.delete(node);
    this.#depth -= 1;
    return value;
  }

  #follow({ target, offset }: YamlAlias): unknown {
    if (this.#within.has(target)) throw new YamlError('an alias stands inside its own anchor', offset);
    const outer = this.#alias;
    this.#alias ??= offset;
    const value = this.value(target);
    this.#alias = outer;
    return value;
  }

  /** The scanner has limited the text; this counts the copies that aliases make. */
  #count(nodes: number, characters: number): void {
    if (this.#alias === undefined) return;
    this.#nodes += nodes;
    this.#characters += characters;
    if (this.#nodes > this.#limits.nodes) {
      throw new YamlError(`excessive alias count: ${tooManyNodes(this.#limits)}`, this.#alias);
    }
    if (this.#characters > this.#limits.characters) {
      const message = `excessive alias count: the aliases stand for more than ${this.#limits.characters} characters`;
      throw new YamlError(message, this.#alias);
    }
  }

  #mapping({ keys, values }: YamlMapping, target: Record<string, unknown>): Record<string, unknown> {
    const seen = new Set<string>();
    for (const [index, key] of keys.entries()) {
      const value = values[index]!;
      if (isMergeKey(key)) {
        this.#merge(value, target);
        continue;
      }
      const name = keyName(key);
      this.#count(1, name.length);
      if (seen.has(name) && this.faults.length < MOST_FAULTS && this.#alias === undefined) {
        this.faults.push({
          message: `map keys must be unique: ${quoteBriefly(name)} occurs twice`,
          offset: key.offset,
        });
      }
      seen.add(name);
      setOwn(target, name, this.value(value));
    }
    return target;
  }

  /**
   * The first of several mappings has precedence. The merge key replaces entries before it; entries after it
   * replace those of the merge key.
   */
  #merge(node: YamlNode, target: Record<string, unknown>): void {
    const sources = node.kind === 'sequence' ? node.items.toReversed() : [node];
    for (const source of sources) {
      const mapping = source.kind === 'alias' ? source.target : source;
      if (mapping.kind !== 'mapping')
        throw new YamlError('a merge key needs a mapping, or a list of mappings', source.offset);
      for (const [name, value] of Object.entries(this.value(source) as object)) setOwn(target, name, value);
    }
  }
}

/** Sets the key even if it is `__proto__`. */
const setOwn = (target: Record<string, unknown>, name: string, value: unknown): void => {
  if (name !== '__proto__') target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
};

export const isMergeKey = (key: YamlNode): boolean =>
  key.kind === 'scalar' && key.text === '<<' && (key.isPlain || key.tag === `${STANDARD_TAG}merge`);

/** Returns the key in JSON, where all keys are text. */
export const keyName = (key: YamlNode): string => {
  const node = key.kind === 'alias' ? key.target : key;
  if (node.kind !== 'scalar') throw new YamlError('a list or a mapping cannot be a key', key.offset);
  const scalar = resolveScalar(node);
  if (scalar.type === 'null') throw new YamlError('a key is missing before the colon', key.offset);
  if (scalar.type === 'float') return goFloatKey(scalar.value);
  if (scalar.type !== 'int' || scalar.value <= INT64_MAX) return String(scalar.value);
  throw new YamlError('a number beyond 64 bits cannot be a key; put it in quotes', key.offset);
};

const scalarValue = (node: YamlScalar): string | number | boolean | null => {
  const { type, value } = resolveScalar(node);
  if (type === 'int') return Number(value);
  // JSON.stringify does not write a negative zero, and the value must equal its copy.
  return value === 0 ? 0 : value;
};

const resolveScalar = ({ text, tag, isPlain, offset }: YamlScalar): GoScalar => {
  if (isPlain) return resolveGoScalar(text);
  const asText: GoScalar = { type: 'str', value: text };
  if (!tag.startsWith(STANDARD_TAG)) return asText;
  const type = tag.slice(STANDARD_TAG.length);
  if (type === 'binary') return { type: 'str', value: decodeBase64(text, offset) };
  if (!['bool', 'int', 'float', 'null'].includes(type)) return asText;
  const scalar = resolveGoScalar(text);
  if (scalar.type === type) return scalar;
  if (type === 'float' && scalar.type === 'int') return { type: 'float', value: Number(scalar.value) };
  throw new YamlError(`${quoteBriefly(text)} is no !!${type}`, offset, `is no !!${type}`);
};

const decodeBase64 = (text: string, offset: number): string => {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    throw new YamlError('!!binary needs base64 text', offset);
  }
};
