import { YamlError } from './yaml-error.js';
import { emptyScalar, type YamlAlias, type YamlMapping, type YamlNode, type YamlSequence } from './yaml-node.js';
import { resolveTag, tagHandles, type TagHandles } from './yaml-tags.js';
import type { YamlToken, YamlTokenKind } from './yaml-token.js';

/**
 * Builds the tree of one document. The scanner has limited its depth.
 *
 * Errors: `YamlError` for an unexpected token.
 */
export const parseYaml = (tokens: readonly YamlToken[]): YamlNode => new Parser(tokens).document();

class Parser {
  readonly #tokens: readonly YamlToken[];
  #next = 0;
  readonly #anchors = new Map<string, Exclude<YamlNode, YamlAlias>>();
  /** The brackets around the place. */
  readonly #open: { readonly offset: number; readonly closing: string }[] = [];
  #handles: TagHandles = tagHandles([]);

  constructor(tokens: readonly YamlToken[]) {
    this.#tokens = tokens;
  }

  document(): YamlNode {
    const directives: YamlToken[] = [];
    while (this.#is('directive')) directives.push(this.#take());
    this.#handles = tagHandles(directives);
    if (this.#is('document-start')) this.#take();
    else if (directives.length > 0 && !this.#is('end'))
      throw this.#unexpected('a directive has to be followed by "---"');
    const node = this.#is('end', 'document-end', 'directive') ? this.#empty() : this.#node(true, false);
    while (this.#is('document-end')) this.#take();
    // The tokens after the end of a document belong to the next one, which begins with these.
    while (this.#is('directive')) this.#take();
    if (!this.#is('end')) throw this.#unexpected('text follows that is not part of the document');
    return node;
  }

  /** Returns the token; throws an error of the scanner at its position. */
  #peek(): YamlToken {
    const token = this.#tokens[this.#next]!;
    if (token.error) throw token.error;
    return token;
  }

  #is(...kinds: readonly YamlTokenKind[]): boolean {
    return kinds.includes(this.#peek().kind);
  }

  #take(): YamlToken {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }

  #empty(): YamlNode {
    return emptyScalar(this.#peek().offset);
  }

  #unexpected(message: string): YamlError {
    return new YamlError(message, this.#peek().offset);
  }

  /** `isBlock`: block collections may begin here. `isValue`: so may a list that is not indented further than its key. */
  #node(isBlock: boolean, isValue: boolean): YamlNode {
    const first = this.#peek();
    if (first.kind === 'alias') return this.#alias();
    let anchor: string | undefined;
    let tag = '';
    let hasTag = false;
    for (;;) {
      const { kind, text, offset } = this.#peek();
      if (kind === 'anchor' && anchor === undefined) anchor = text;
      else if (kind === 'tag' && !hasTag) {
        tag = resolveTag(text, this.#handles, offset);
        hasTag = true;
      } else break;
      this.#take();
    }
    const { kind } = this.#peek();
    const start = first.offset;
    if (kind === 'plain' || kind === 'quoted') {
      const { text } = this.#take();
      const isPlain = kind === 'plain' && tag === '';
      return this.#named(anchor, { kind: 'scalar', offset: start, text, tag, isPlain });
    }
    const isSequence =
      kind === 'flow-sequence-start' ||
      (isBlock && kind === 'block-sequence-start') ||
      (isValue && kind === 'block-entry');
    if (isSequence) {
      const items: YamlNode[] = [];
      const sequence = this.#named(anchor, { kind: 'sequence', offset: start, items });
      if (kind === 'flow-sequence-start') this.#flowSequence(items);
      else if (kind === 'block-entry') this.#indentlessSequence(items);
      else this.#blockSequence(items);
      return sequence;
    }
    if (kind === 'flow-mapping-start' || (isBlock && kind === 'block-mapping-start')) {
      const mapping = this.#named(anchor, { kind: 'mapping', offset: start, keys: [], values: [] });
      if (kind === 'flow-mapping-start') this.#flowMapping(mapping);
      else this.#blockMapping(mapping);
      return mapping;
    }
    if (anchor === undefined && tag === '') throw this.#missing();
    return this.#named(anchor, { kind: 'scalar', offset: start, text: '', tag, isPlain: tag === '' });
  }

  #named<Node extends Exclude<YamlNode, YamlAlias>>(anchor: string | undefined, node: Node): Node {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }

  #alias(): YamlAlias {
    const { text: name, offset } = this.#take();
    const target = this.#anchors.get(name);
    if (target) return { kind: 'alias', offset, name, target };
    const message = 'unresolved alias (the anchor must be set before the alias)';
    throw new YamlError(`${message}: ${name}`, offset, message);
  }

  #blockSequence(items: YamlNode[]): void {
    this.#take();
    while (this.#is('block-entry')) {
      this.#take();
      items.push(this.#is('block-entry', 'block-end') ? this.#empty() : this.#node(true, false));
    }
    if (!this.#is('block-end')) throw this.#unexpected('the items of a list have to begin with "-" in one column');
    this.#take();
  }

  #indentlessSequence(items: YamlNode[]): void {
    while (this.#is('block-entry')) {
      this.#take();
      const isEmpty = this.#is('block-entry', 'key', 'value', 'block-end');
      items.push(isEmpty ? this.#empty() : this.#node(true, false));
    }
  }

  #blockMapping({ keys, values }: YamlMapping): void {
    this.#take();
    while (this.#is('key', 'value')) {
      const begins = this.#is('key');
      if (begins) this.#take();
      keys.push(begins && !this.#is('key', 'value', 'block-end') ? this.#node(true, true) : this.#empty());
      if (!this.#is('value')) {
        values.push(this.#empty());
        continue;
      }
      this.#take();
      values.push(this.#is('key', 'value', 'block-end') ? this.#empty() : this.#node(true, true));
    }
    if (!this.#is('block-end')) throw this.#unexpected('the keys of a mapping have to begin in one column');
    this.#take();
  }

  #flowSequence(items: YamlSequence['items']): void {
    this.#open.push({ offset: this.#take().offset, closing: ']' });
    for (let isFirst = true; !this.#is('flow-sequence-end'); isFirst = false) {
      if (!isFirst) this.#separator();
      if (this.#is('flow-sequence-end')) break;
      if (this.#is('key')) items.push(this.#flowPair());
      else items.push(this.#node(false, false));
    }
    this.#take();
    this.#open.pop();
  }

  /** `[a: 1]` is a list of one mapping. */
  #flowPair(): YamlMapping {
    const { offset } = this.#take();
    const key = this.#is('value', 'flow-entry', 'flow-sequence-end') ? this.#empty() : this.#node(false, false);
    return { kind: 'mapping', offset, keys: [key], values: [this.#flowValue('flow-sequence-end')] };
  }

  #flowMapping({ keys, values }: YamlMapping): void {
    this.#open.push({ offset: this.#take().offset, closing: '}' });
    for (let isFirst = true; !this.#is('flow-mapping-end'); isFirst = false) {
      if (!isFirst) this.#separator();
      if (this.#is('flow-mapping-end')) break;
      if (!this.#is('key')) {
        keys.push(this.#node(false, false));
        values.push(this.#empty());
        continue;
      }
      this.#take();
      keys.push(this.#is('value', 'flow-entry', 'flow-mapping-end') ? this.#empty() : this.#node(false, false));
      values.push(this.#flowValue('flow-mapping-end'));
    }
    this.#take();
    this.#open.pop();
  }

  #flowValue(end: YamlTokenKind): YamlNode {
    if (!this.#is('value')) return this.#empty();
    this.#take();
    return this.#is('flow-entry', end) ? this.#empty() : this.#node(false, false);
  }

  #separator(): void {
    if (!this.#is('flow-entry')) throw this.#missing();
    this.#take();
  }

  /** Returns the error for an unexpected token: it names the valid ones. */
  #missing(): YamlError {
    const { kind, offset } = this.#peek();
    const bracket = this.#open.at(-1);
    if (!bracket) return new YamlError('a value is expected here', offset);
    if (kind === 'end') return new YamlError(`is not closed by "${bracket.closing}"`, bracket.offset);
    return new YamlError(`"," or "${bracket.closing}" is expected here`, offset);
  }
}
