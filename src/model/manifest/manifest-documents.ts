import { parseYaml } from '../yaml/parse-yaml.js';
import { FORBIDDEN } from '../yaml/yaml-characters.js';
import { YamlError } from '../yaml/yaml-error.js';
import { YAML_LIMITS } from '../yaml/yaml-limits.js';
import { locateYaml } from '../yaml/locate-yaml.js';
import type { YamlNode } from '../yaml/yaml-node.js';
import { scanYaml } from '../yaml/yaml-scanner.js';
import { yamlValue } from '../yaml/yaml-value.js';
import type { FieldIssue } from './field-issue.js';

export interface Position {
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

/** One document of a YAML or JSON text. */
export interface ManifestDocument {
  /** The position of the document in the text, counted from 1. */
  readonly document: number;
  /** Plain data; `undefined` if `errors` is not empty. */
  readonly value: unknown;
  readonly errors: readonly (Position & { readonly message: string })[];
  /**
   * Returns the position of an issue: of the value or its name, or of the innermost part of the document that exists.
   */
  readonly locate: (about: Pick<FieldIssue, 'path' | 'atKey'>) => Position;
}

/** A node has some hundred pods at most. */
const MOST_DOCUMENTS = 1000;

const oneTooMany = (position: Position): ManifestDocument => {
  const message = `exceeds the limit of ${MOST_DOCUMENTS} documents in a text; this one and later ones are not read`;
  return { document: MOST_DOCUMENTS + 1, value: undefined, errors: [{ message, ...position }], locate: () => position };
};

/**
 * Returns every document of the text that is not empty, in order; JSON is read as YAML. A broken document carries its
 * errors; the other documents are read. The time is proportional to the text.
 *
 * Source: sigs.k8s.io/yaml, which reads YAML 1.1 with the scalars of Go.
 */
export const parseDocuments = (text: string): readonly ManifestDocument[] => {
  const plain = text.replace(/^\uFEFF/, '');
  const positionAt = positionsOf(plain);
  const places = splitDocuments(plain);
  const documents = places
    .slice(0, MOST_DOCUMENTS)
    .map(([start, end], index) => readDocument(plain, start, end, index + 1, positionAt));
  const next = places[MOST_DOCUMENTS];
  if (next) documents.push(oneTooMany(positionAt(next[0])));
  return documents.filter(isNotEmpty);
};

/** Splits the text into ranges: a line of `---` begins a document wherever it occurs. */
const splitDocuments = (text: string): readonly (readonly [start: number, end: number])[] => {
  const starts = [...text.matchAll(/^---(?=[ \t\r\n\u0085\u2028\u2029]|$)/gm)].map(({ index }) => index);
  // The text before the first mark is a document of its own, unless it holds only directives.
  const [first = text.length] = starts;
  if (isPreamble(text.slice(0, first))) starts[0] = 0;
  else starts.unshift(0);
  return starts.map((start, index) => [start, starts[index + 1] ?? text.length]);
};

const isPreamble = (text: string): boolean => !/^(?![ \t]*(?:[#%]|$))/m.test(text);

/** Line breaks of YAML 1.1 that editors do not count as lines. */
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

const isNotEmpty = ({ value, errors }: ManifestDocument): boolean =>
  errors.length > 0 || (value !== null && value !== undefined);

const readDocument = (
  text: string,
  start: number,
  end: number,
  document: number,
  positionAt: (offset: number) => Position,
): ManifestDocument => {
  let node: YamlNode | undefined;
  const locate: ManifestDocument['locate'] = ({ path, atKey }) =>
    positionAt(node ? locateYaml(node, path, atKey === true) : start);
  const broken = (errors: readonly { readonly message: string; readonly offset: number }[]): ManifestDocument => ({
    document,
    value: undefined,
    errors: errors.map(({ message, offset }) => ({ message, ...positionAt(offset) })),
    locate,
  });
  try {
    checkCharacters(text, start, end);
    node = parseYaml(scanYaml(text, start, end, YAML_LIMITS));
    const { value, faults } = yamlValue(node, YAML_LIMITS);
    return faults.length > 0 ? broken(faults) : { document, value, errors: [], locate };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { message, unquoted, offset } = error;
    return broken([{ message: SECRET.test(text.slice(start, end)) ? unquoted : message, offset }]);
  }
};

/** A document that seems to hold a Secret. */
const SECRET = /\bkind["']?\s*:\s*["']?Secret/;

const checkCharacters = (text: string, start: number, end: number): void => {
  const part = text.slice(start, end);
  const found = part.search(FORBIDDEN);
  if (found < 0) return;
  const code = part.codePointAt(found)!.toString(16).toUpperCase().padStart(4, '0');
  throw new YamlError(
    `the character U+${code} may not stand in a manifest; write it as an escape in quotes`,
    start + found,
  );
};
