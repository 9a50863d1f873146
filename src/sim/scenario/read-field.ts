import { describeWrong } from '../../model/manifest/check-shape.js';
import { closestName } from '../../model/manifest/closest-name.js';
import { type FieldIssue, type FieldPath, issue } from '../../model/manifest/field-issue.js';
import { parseGoDuration } from '../../model/go-duration.js';

/** Makes a typed value of plain data; what is wrong with it goes into `issues`, and then the result is undefined. */
export type ReadField<T> = (value: unknown, path: FieldPath, issues: FieldIssue[]) => T | undefined;

type Readers = Readonly<Record<string, ReadField<unknown>>>;
type Fields<R extends Readers> = { readonly [Name in keyof R]?: R[Name] extends ReadField<infer T> ? T : never };

const fieldOf =
  <T>(expected: string, read: (value: unknown) => T | undefined): ReadField<T> =>
  (value, path, issues) => {
    const result = read(value);
    if (result === undefined) issues.push(issue(path, describeWrong(value), expected));
    return result;
  };

/** Milliseconds. */
export const duration = fieldOf('a duration such as 12s or 1m30s', (value) => {
  const milliseconds = typeof value === 'string' || value === 0 ? parseGoDuration(String(value)) : undefined;
  return milliseconds !== undefined && milliseconds >= 0 ? milliseconds : undefined;
});

export const wholeNumber = (min: number, max: number): ReadField<number> =>
  fieldOf(`a whole number from ${min} to ${max}`, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
  );

export const flag = fieldOf('true or false', (value) => (typeof value === 'boolean' ? value : undefined));

/** A string that is not empty. */
export const words = (expected: string): ReadField<string> =>
  fieldOf(expected, (value) => (typeof value === 'string' && value !== '' ? value : undefined));

export const oneOf = <const T extends string>(...choices: readonly T[]): ReadField<T> =>
  fieldOf(`one of ${choices.join(', ')}`, (value) => choices.find((choice) => choice === value));

/** A list, or the one item that it would have. */
export const oneOrMore =
  <T>(read: ReadField<T>): ReadField<readonly T[]> =>
  (value, path, issues) => {
    if (!Array.isArray(value)) {
      const item = read(value, path, issues);
      return item === undefined ? undefined : [item];
    }
    if (value.length === 0) {
      issues.push(issue(path, 'is an empty list', 'at least one item'));
      return undefined;
    }
    return value.flatMap((item: unknown, index) => read(item, [...path, index], issues) ?? []);
  };

/** Whatever the names are. */
export const mapOf =
  <T>(expected: string, read: ReadField<T>): ReadField<Readonly<Record<string, T>>> =>
  (value, path, issues) => {
    if (!isMapping(value)) {
      issues.push(issue(path, describeWrong(value), expected));
      return undefined;
    }
    const entries = Object.entries(value).map(([name, item]) => [name, read(item, [...path, name], issues)] as const);
    return Object.fromEntries(entries.filter((entry): entry is [string, T] => entry[1] !== undefined));
  };

/** A mapping of nothing but these fields, of which those in `required` must be there. An empty value is an absent one. */
export const fields =
  <R extends Readers>(
    what: string,
    readers: R,
    { required = [] }: { readonly required?: readonly (keyof R & string)[] } = {},
  ): ReadField<Fields<R>> =>
  (value, path, issues) => {
    const known = Object.keys(readers);
    if (!isMapping(value)) {
      issues.push(issue(path, describeWrong(value), `a mapping with ${listed(known)}`));
      return undefined;
    }
    const result: Record<string, unknown> = {};
    for (const [name, item] of Object.entries(value)) {
      if (!Object.hasOwn(readers, name)) issues.push(unknownField(name, known, what, path));
      else if (item !== null) result[name] = readers[name]!(item, [...path, name], issues);
    }
    for (const name of required.filter((name) => value[name] === undefined || value[name] === null))
      issues.push(issue([...path, name], 'is missing', `a field of ${what}`));
    return result as Fields<R>;
  };

const unknownField = (name: string, known: readonly string[], what: string, path: FieldPath): FieldIssue => {
  const closest = closestName(name, known);
  const expected = closest === undefined ? `a field of ${what}: ${listed(known)}` : `perhaps ${closest}`;
  return { path: [...path, name], message: 'is not a known field', expected, atKey: true };
};

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
