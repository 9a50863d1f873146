import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  type Tags,
  type YAMLMap,
} from 'yaml';
import type { FieldIssue, FieldPath } from './field-issue.js';

export interface Position {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** One document of a YAML or JSON text. */
export interface ManifestDocument {
  /** Which one of the text, from 1. */
  readonly document: number;
  /** Plain data; `undefined` when `errors` says why. */
  readonly value: unknown;
  readonly errors: readonly (Position & { readonly message: string })[];
  /** Where an issue is: the value it is about or its name, or the innermost part of the document that exists. */
  readonly locate: (about: Pick<FieldIssue, 'path' | 'atKey'>) => Position;
}

/**
 * Every document of the text that is not empty, in order; JSON is read as the YAML that it is. A broken document carries
 * its errors and does not stop the others.
 *
 * Source: sigs.k8s.io/yaml, which reads YAML 1.1 but leaves times and base-60 numbers as strings.
 */
export const parseDocuments = (text: string): readonly ManifestDocument[] => {
  const plain = text.replace(/^\uFEFF/, '');
  const documents = parseAllDocuments(plain, {
    version: '1.1',
    customTags: withoutTimes,
    prettyErrors: false,
    logLevel: 'error',
  });
  if (!Array.isArray(documents)) return [];
  const positionAt = positionsOf(plain);
  return documents.map((document, index) => readDocument(document, index + 1, positionAt)).filter(isNotEmpty);
};

/** The parser's own counter of lines loses some of them in texts that are broken enough. */
const positionsOf = (text: string): ((offset: number) => Position) => {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return (offset) => {
    let [first, last] = [0, starts.length - 1];
    while (first < last) {
      const middle = Math.ceil((first + last) / 2);
      if (starts[middle]! <= offset) first = middle;
      else last = middle - 1;
    }
    return { line: first + 1, column: Math.min(offset, text.length) - starts[first]! + 1 };
  };
};

const withoutTimes = (tags: Tags): Tags =>
  tags.filter(
    (tag) =>
      typeof tag === 'string' ||
      (tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME')),
  );

const isNotEmpty = ({ value, errors }: ManifestDocument): boolean =>
  errors.length > 0 || (value !== null && value !== undefined);

const readDocument = (
  document: Document.Parsed,
  number: number,
  positionAt: (offset: number) => Position,
): ManifestDocument => {
  const start = document.contents?.range[0] ?? document.range[0];
  const locate: ManifestDocument['locate'] = ({ path, atKey }) =>
    positionAt(offsetOf(document, path, atKey === true) ?? start);
  const errors = document.errors.map(({ message, pos }) => ({ message: lowerFirst(message), ...positionAt(pos[0]) }));
  if (errors.length > 0) return { document: number, value: undefined, errors, locate };
  try {
    const value: unknown = document.toJS();
    const cycle = findCycle(value);
    if (!cycle) return { document: number, value, errors: [], locate };
    const message = 'an alias stands inside its own anchor';
    return { document: number, value: undefined, errors: [{ message, ...locate({ path: cycle }) }], locate };
  } catch (error) {
    // An alias without its anchor, or aliases that multiply beyond reason.
    const message = lowerFirst(error instanceof Error ? error.message : String(error));
    return { document: number, value: undefined, errors: [{ message, ...positionAt(start) }], locate };
  }
};

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** The path at which a value contains itself. */
const findCycle = (value: unknown, above: readonly unknown[] = [], path: FieldPath = []): FieldPath | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  if (above.includes(value)) return path;
  for (const [key, item] of Object.entries(value)) {
    const cycle = findCycle(item, [...above, value], [...path, key]);
    if (cycle) return cycle;
  }
  return undefined;
};

/** Follows the path as far as the document goes. */
const offsetOf = (document: Document.Parsed, path: FieldPath, atKey: boolean): number | undefined => {
  let node: Node | undefined = document.contents ?? undefined;
  let offset = node?.range?.[0];
  for (const [depth, part] of path.entries()) {
    const inner = resolve(node, document);
    if (isMap(inner)) {
      const pair = findPair(inner, String(part), document);
      if (!pair) return offset;
      const isLast = depth === path.length - 1;
      const key = isNode(pair.key) ? pair.key.range?.[0] : undefined;
      node = isNode(pair.value) ? pair.value : undefined;
      // An empty value has no place of its own that a reader would recognize.
      const isEmpty = isScalar(node) && node.value === null;
      offset = (isLast && atKey) || !node || isEmpty ? key : node.range?.[0];
    } else if (isSeq(inner) && typeof part === 'number') {
      const item: unknown = inner.items[part];
      if (!isNode(item)) return offset;
      node = item;
      offset = node.range?.[0];
    } else return offset;
  }
  return offset;
};

const resolve = (node: Node | undefined, document: Document.Parsed): Node | undefined =>
  isAlias(node) ? node.resolve(document) : node;

/** The pair with that key, in the mapping itself or in what it merges in. */
const findPair = (map: YAMLMap, key: string, document: Document.Parsed): Pair | undefined => {
  const own = map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key && !isMerge(pair));
  if (own) return own;
  for (const pair of map.items.filter(isMerge)) {
    const merged = resolve(isNode(pair.value) ? pair.value : undefined, document);
    const sources: readonly unknown[] = isSeq(merged) ? merged.items : [merged];
    for (const source of sources) {
      const target = resolve(isNode(source) ? source : undefined, document);
      const found = isMap(target) ? findPair(target, key, document) : undefined;
      if (found) return found;
    }
  }
  return undefined;
};

const isMerge = (pair: unknown): boolean =>
  isPair(pair) && isScalar(pair.key) && (pair.key.value === '<<' || typeof pair.key.value === 'symbol');
