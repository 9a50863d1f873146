import { type FieldIssue, type FieldPath, issue } from './field-issue.js';

/** A rule for text: its pattern, its longest length, and its description. */
export interface TextRule {
  readonly pattern: RegExp;
  readonly maxLength: number;
  readonly expected: string;
}

/** Source: staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go. */
export const DNS_LABEL: TextRule = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  maxLength: 63,
  expected: 'at most 63 lower-case letters, digits and "-", beginning and ending with a letter or digit',
};

export const DNS_SUBDOMAIN: TextRule = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  maxLength: 253,
  expected:
    'at most 253 lower-case letters, digits, "-" and ".", each part beginning and ending with a letter or digit',
};

/** A name that becomes part of `<name>-<node name>`. */
export const STATIC_POD_NAME: TextRule = {
  ...DNS_SUBDOMAIN,
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*-*$/,
};

export const PORT_NAME: TextRule = {
  pattern: /^(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  maxLength: 15,
  expected: 'at most 15 lower-case letters, digits and single "-", with at least one letter',
};

export const LABEL_VALUE: TextRule = {
  pattern: /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  maxLength: 63,
  expected: 'at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit',
};

export const ENV_NAME: TextRule = {
  pattern: /^[\x20-\x3C\x3E-\x7E]+$/,
  maxLength: Number.POSITIVE_INFINITY,
  expected: 'printable ASCII characters without "="',
};

/** The name becomes part of directory and cgroup names. */
export const POD_UID: TextRule = {
  pattern: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
  maxLength: 128,
  expected: 'at most 128 letters, digits, "-", "_" and "."',
};

export function* checkText(text: string, rule: TextRule, path: FieldPath): Generator<FieldIssue> {
  if (text.length > rule.maxLength) yield issue(path, `is ${text.length} characters long`, rule.expected);
  else if (!rule.pattern.test(text)) yield issue(path, `is ${JSON.stringify(text)}`, rule.expected);
}

/** Validates `name` or `domain/name`, the form of keys of labels and names of resources. */
export const isQualifiedName = (text: string): boolean => {
  const [name = '', domain, ...rest] = text.split('/').reverse();
  if (rest.length > 0 || name.length === 0 || name.length > 63 || !LABEL_VALUE.pattern.test(name)) return false;
  return domain === undefined || (domain.length <= 253 && DNS_SUBDOMAIN.pattern.test(domain));
};

export const QUALIFIED_NAME =
  'a name of at most 63 letters, digits, "-", "_" and ".", with an optional "domain/" in front';

/** Validates one of a fixed set of words; absent is valid. */
export function* checkOneOf(
  value: string | undefined,
  words: readonly string[],
  path: FieldPath,
): Generator<FieldIssue> {
  if (value === undefined || words.includes(value)) return;
  yield issue(path, `is ${JSON.stringify(value)}`, words.map((word) => (word === '' ? '""' : word)).join(', '));
}

/** Validates a whole number within bounds; absent is valid. */
export function* checkRange(
  value: number | undefined,
  [min, max]: readonly [number, number],
  path: FieldPath,
): Generator<FieldIssue> {
  if (value === undefined || (value >= min && value <= max)) return;
  const expected = max >= Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  yield issue(path, `is ${value}`, expected);
}

/** Validates a path below a directory that cannot leave it. */
export function* checkDescendingPath(text: string, path: FieldPath): Generator<FieldIssue> {
  if (text.startsWith('/')) yield issue(path, `is the absolute path ${JSON.stringify(text)}`, 'a relative path');
  else if (text.split('/').includes('..')) yield issue(path, `is ${JSON.stringify(text)}`, 'a path without ".."');
}

/** Validates a path below a directory whose names beginning with `..` are reserved. */
export function* checkLocalPath(text: string, path: FieldPath): Generator<FieldIssue> {
  if (text === '') yield issue(path, 'is empty', 'a relative path');
  yield* checkDescendingPath(text, path);
  // Names with this beginning are reserved for updates of volumes.
  if (text.startsWith('..')) yield issue(path, `is ${JSON.stringify(text)}`, 'a name that does not begin with ".."');
}

/** Finds texts that occur twice in a list of unique entries. */
export function* checkUnique(
  entries: readonly { readonly key: string; readonly path: FieldPath }[],
  what: string,
): Generator<FieldIssue> {
  const seen = new Set<string>();
  for (const { key, path } of entries) {
    if (seen.has(key)) yield issue(path, `is ${JSON.stringify(key)} a second time`, `a different ${what} for each`);
    seen.add(key);
  }
}
