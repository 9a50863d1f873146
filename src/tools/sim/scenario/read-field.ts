import * as z from 'zod';
import { parseGoDuration } from '../../../model/values/go-duration.js';
import { describeWrong } from '../../../model/manifest/check-shape.js';
import { closestName } from '../../../model/manifest/closest-name.js';
import { type FieldIssue, type FieldPath, issue } from '../../../model/manifest/field-issue.js';

// The message of each schema is the expected value; `fieldIssues` adds a description of the found one.

/** A schema with the result of `read`. An undefined result is a problem: the value is not as `expected`. */
export const readAs = <T>(expected: string, read: (value: unknown) => T | undefined): z.ZodType<T> =>
  z.unknown().transform((value, context): T => {
    const result = read(value);
    if (result === undefined) context.addIssue({ code: 'custom', message: expected });
    return result ?? z.NEVER;
  });

/** A Go duration in the text, milliseconds in the result. */
export const duration = readAs('a duration such as 12s or 1m30s', (value) => {
  const milliseconds = typeof value === 'string' || value === 0 ? parseGoDuration(String(value)) : undefined;
  return milliseconds !== undefined && milliseconds >= 0 ? milliseconds : undefined;
});

export const wholeNumber = (min: number, max: number): z.ZodType<number> =>
  readAs(`a whole number from ${min} to ${max}`, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
  );

export const flag = z.boolean('true or false');

/** A string that is not empty. */
export const words = (expected: string): z.ZodType<string> =>
  readAs(expected, (value) => (typeof value === 'string' && value !== '' ? value : undefined));

export const oneOf = <const T extends string>(...choices: readonly T[]): z.ZodType<T> =>
  z.enum(choices, `one of ${choices.join(', ')}`);

/** Reads a list, or its single item. */
export const oneOrMore = <T>(item: z.ZodType<T>): z.ZodType<T[]> =>
  z.preprocess(
    (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]),
    z.array(item).min(1, 'at least one item'),
  );

/** A mapping with any names. */
export const mapOf = <T>(expected: string, item: z.ZodType<T>): z.ZodType<Record<string, T>> =>
  z.record(z.string(), item, expected);

/** One of two schemas: `isFirst` chooses it by the value. Reports only the problems that the chosen schema finds. */
export const eitherOf = <A, B>(
  isFirst: (value: unknown) => boolean,
  first: z.ZodType<A>,
  second: z.ZodType<B>,
): z.ZodType<A | B> =>
  z.unknown().transform((value, context): A | B => {
    const { data, error } = (isFirst(value) ? first : second).safeParse(value, REPORT);
    if (!error) return data;
    for (const found of error.issues) context.addIssue(found as Parameters<typeof context.addIssue>[0]);
    return z.NEVER;
  });

type Shape = Readonly<Record<string, z.ZodType>>;
type Fields<S extends Shape> = { readonly [Name in keyof S]?: z.output<S[Name]> | undefined };

/** Reads a mapping with only these fields, all of them optional. An empty value is an absent one. */
export const fields = <S extends Shape>(what: string, shape: S): z.ZodType<Fields<S>> => {
  const known = Object.keys(shape);
  const expectedFor = (name: string): string => {
    const closest = closestName(name, known);
    return closest === undefined ? `a field of ${what}: ${listed(known)}` : `perhaps ${closest}`;
  };
  const error: z.core.$ZodErrorMap = (problem) =>
    problem.code === 'unrecognized_keys' ? problem.keys.map(expectedFor).join('\n') : `a mapping with ${listed(known)}`;
  const withoutEmpty = (value: unknown): unknown =>
    isMapping(value)
      ? Object.fromEntries(Object.entries(value).filter(([name, item]) => item !== null || !known.includes(name)))
      : value;
  return z.preprocess(withoutEmpty, z.strictObject(shape, { error }).partial()) as unknown as z.ZodType<Fields<S>>;
};

/** Adds an issue for each of `names` that is absent from the value. */
export const requireFields = (
  what: string,
  names: readonly string[],
  context: z.core.$RefinementCtx<unknown>,
): void => {
  for (const name of names)
    if (!mentions(context.value, name)) hold(context, [name], 'is missing', `a field of ${what}`);
};

/** Adds an issue of several fields to the one at `path`. */
export const hold = (
  context: Pick<z.core.$RefinementCtx<unknown>, 'addIssue'>,
  path: FieldPath,
  message: string,
  expected: string,
): void => context.addIssue({ code: 'custom', path: [...path], message, params: { expected } });

/** The option of zod that puts the wrong value into its issues, for `fieldIssues`. */
export const REPORT = { reportInput: true };

/** The option of zod that checks a rule about several fields for every mapping, even if one of its fields is wrong by itself. */
export const OF_ANY_MAPPING: z.core.$ZodSuperRefineParams = { when: ({ value }) => isMapping(value) };

/** Returns the issues of a parse with `REPORT` as problems of fields. */
export const fieldIssues = ({ issues }: z.ZodError): readonly FieldIssue[] =>
  issues.flatMap((found): readonly FieldIssue[] => {
    const path = found.path.map((part) => (typeof part === 'number' ? part : String(part)));
    if (found.code === 'unrecognized_keys') {
      const expected = found.message.split('\n');
      return found.keys.map((key, index) => ({
        ...issue([...path, key], 'is not a known field', expected[index]),
        atKey: true,
      }));
    }
    if (found.code === 'custom' && found.params) return [issue(path, found.message, String(found.params.expected))];
    const wrong =
      found.code === 'too_small' && found.origin === 'array' ? 'is an empty list' : describeWrong(found.input);
    return [issue(path, wrong, found.message)];
  });

export const mentions = (value: unknown, name: string): boolean =>
  isMapping(value) && value[name] !== undefined && value[name] !== null;

export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
