import type { FieldIssue, FieldPath } from './field-issue.js';

/** Fields of a Secret that an issue may quote. */
const PUBLIC_FIELDS: ReadonlySet<unknown> = new Set(['apiVersion', 'kind', 'type']);

/**
 * Returns the issues of a Secret without quotations of its data: these name the kind of the wrong value alone. `value` is the
 * Secret at `path`.
 */
export const unquotedIssues = (issues: readonly FieldIssue[], value: unknown, path: FieldPath): readonly FieldIssue[] =>
  issues.map((found) => {
    const [field, inside] = found.path.slice(path.length);
    const isPublic = PUBLIC_FIELDS.has(field) || (field === 'metadata' && inside !== 'annotations');
    if (isPublic || found.atKey || !QUOTING.test(found.message)) return found;
    return { ...found, message: kindOf(valueAt(value, found.path.slice(path.length)), found.message) };
  });

/** The beginnings of messages that may go on with a quotation. */
const QUOTING = /^is (?:the (?:string|number|boolean|bigint) |"|-?\d)/;

const kindOf = (value: unknown, message: string): string => {
  const hint = message.endsWith('; put it in quotes') ? '; put it in quotes' : '';
  return `is a ${typeof value === 'bigint' ? 'number' : typeof value}${hint}`;
};

const valueAt = (value: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>(
    (at, part) => (at as Readonly<Record<string | number, unknown>> | null | undefined)?.[part],
    value,
  );
