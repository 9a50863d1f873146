import { podSchema } from '../../generated/pod-schema.js';
import { parseQuantity } from '../resources/quantity.js';
import { closestName } from './closest-name.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { isIgnoredField, newerFieldOf } from './newer-fields.js';
import { zeroValue } from './zero-value.js';

/** The check of a scalar code of the schema table; any other code is the name of a type. */
export interface Scalar {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

const INT32_MAX = 2 ** 31 - 1;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const isIntegerWithin = (value: unknown, limit: number): boolean =>
  Number.isInteger(value) && Math.abs(value as number) <= limit;
const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
const isDateTime = (value: unknown): boolean =>
  typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));

/** Blanks around a quantity do not count. Source: apimachinery/pkg/api/resource/quantity.go UnmarshalJSON. */
export const textOfQuantity = (value: string | number): string => String(value).trim();

const SCALARS: Readonly<Record<string, Scalar>> = {
  s: { expected: 'a string', accepts: (value) => typeof value === 'string' },
  b: { expected: 'true or false', accepts: (value) => typeof value === 'boolean' },
  i: { expected: 'a whole number', accepts: (value) => isIntegerWithin(value, INT32_MAX) },
  l: { expected: 'a whole number', accepts: (value) => isIntegerWithin(value, Number.MAX_SAFE_INTEGER) },
  n: { expected: 'a number', accepts: (value) => typeof value === 'number' && Number.isFinite(value) },
  q: {
    expected: 'a quantity such as "500m", "128Mi" or 2',
    accepts: (value) =>
      (typeof value === 'string' || typeof value === 'number') && parseQuantity(textOfQuantity(value)) !== undefined,
  },
  x: {
    expected: 'a whole number or a string',
    accepts: (value) => typeof value === 'string' || isIntegerWithin(value, INT32_MAX),
  },
  t: { expected: 'a time such as "2006-01-02T15:04:05Z"', accepts: isDateTime },
  y: {
    expected: 'base64 text',
    // Go's decoder skips line breaks.
    accepts: (value) => typeof value === 'string' && isBase64(value.replace(/[\r\n]/g, '')),
  },
};

/** Returns the check of a scalar code of the schema table; undefined for the name of a type. */
export const scalarOf = (code: string): Scalar | undefined =>
  Object.hasOwn(SCALARS, code) ? SCALARS[code] : undefined;

/** The number of issues after which no known name is suggested: a suggestion compares all names. */
const SUGGESTIONS = 50;

export interface CheckedShape {
  /** The value without its nulls, with quantities as strings. Complete only if there are no issues. */
  readonly value: unknown;
  readonly issues: readonly FieldIssue[];
}

/**
 * Compares a parsed document with the type of that name in the schema table. Unknown fields, wrong types and missing
 * required fields are issues; a null is an absent field, as in the API, and in a list or map the zero of its type. `gates` are the alpha gates that are on.
 */
export const checkShape = (
  value: unknown,
  type: string,
  path: FieldPath = [],
  gates: readonly string[] = [],
): CheckedShape => {
  const check: ShapeCheck = { issues: [], gates };
  return { value: readCode(value, type, path, check), issues: check.issues };
};

/** The issues found by one check, and the alpha gates that are on. */
interface ShapeCheck {
  readonly issues: FieldIssue[];
  readonly gates: readonly string[];
}

const readCode = (value: unknown, code: string, path: FieldPath, check: ShapeCheck): unknown => {
  if (code === '*') return value;
  if (code.startsWith('[]')) return readList(value, code.slice(2), path, check);
  if (code.startsWith('{}')) return readMap(value, code.slice(2), path, check);
  const scalar = SCALARS[code];
  if (!scalar) return readObject(value, code, path, check);
  if (!scalar.accepts(value)) {
    check.issues.push(issue(path, describeWrong(value, code), scalar.expected));
    return undefined;
  }
  return code === 'q' ? textOfQuantity(value as string | number) : value;
};

const readList = (value: unknown, code: string, path: FieldPath, check: ShapeCheck): unknown => {
  if (!Array.isArray(value)) {
    check.issues.push(issue(path, describeWrong(value, 'list'), 'a list'));
    return undefined;
  }
  return value.map((item: unknown, index) => readCode(item ?? zeroValue(code), code, [...path, index], check));
};

const readMap = (value: unknown, code: string, path: FieldPath, check: ShapeCheck): unknown => {
  if (!isPlainObject(value)) {
    check.issues.push(issue(path, describeWrong(value, 'map'), 'a mapping of names to values'));
    return undefined;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, readCode(item ?? zeroValue(code), code, [...path, key], check)]),
  );
};

const readObject = (value: unknown, type: string, path: FieldPath, check: ShapeCheck): unknown => {
  const { issues, gates } = check;
  const fields = podSchema[type];
  if (!fields) throw new Error(`the pod schema has no type ${type}`);
  if (!isPlainObject(value)) {
    issues.push(issue(path, describeWrong(value, 'map'), `a mapping with the fields of ${type}`));
    return undefined;
  }
  const result: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const code = (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? codeOfNewer(name, type, gates);
    if (code === undefined) {
      const found =
        issueOfNewer(name, item, type, path) ??
        unknownField(name, issues.length < SUGGESTIONS ? Object.keys(fields) : [], type, path);
      if (found !== 'without effect') issues.push(found);
    } else if (item !== null && item !== undefined) {
      result[name] = readCode(item, code.replace('!', ''), [...path, name], check);
    }
  }
  for (const [name, code] of Object.entries(fields)) {
    if (!code.startsWith('!') || (value[name] !== undefined && value[name] !== null)) continue;
    issues.push(issue([...path, name], 'is missing', expectedOf(code.slice(1))));
  }
  return result;
};

const expectedOf = (code: string): string =>
  code.startsWith('[]') ? 'a list' : (SCALARS[code]?.expected ?? `a mapping with the fields of ${code}`);

/** The code of a field of a newer release whose gate is on; undefined if the agent does not follow the field. */
const codeOfNewer = (name: string, type: string, gates: readonly string[]): string | undefined => {
  const newer = newerFieldOf(type, name);
  return newer && gates.includes(newer.gate) ? newer.code : undefined;
};

/** The issue of a field of a newer release; undefined for a field of no release. A null is an absent field. */
const issueOfNewer = (
  name: string,
  value: unknown,
  type: string,
  path: FieldPath,
): FieldIssue | 'without effect' | undefined => {
  if (isIgnoredField(type, name)) return 'without effect';
  const newer = newerFieldOf(type, name);
  if (!newer) return undefined;
  const { since, gate, usual, code } = newer;
  if (value === null || (usual !== undefined && value === usual)) return 'without effect';
  return {
    path: [...path, name],
    message:
      code === undefined
        ? `is a field of Kubernetes ${since} (alpha gate ${gate}) that this agent does not support`
        : `is a field of Kubernetes ${since} behind the alpha gate ${gate}, which is off`,
    expected:
      usual === undefined
        ? 'it to be absent'
        : `it to be absent, or ${typeof usual === 'number' ? `0${usual.toString(8)}` : usual}`,
    atKey: true,
  };
};

const unknownField = (name: string, known: readonly string[], type: string, path: FieldPath): FieldIssue => {
  const closest = closestName(name, known);
  return {
    path: [...path, name],
    message: 'is not a known field',
    expected: closest === undefined ? `a field of ${type}` : `perhaps ${closest}`,
    atKey: true,
  };
};

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns `is the number 8080`, with a hint where quotes would help. */
export const describeWrong = (value: unknown, code = ''): string => {
  if (value === null || value === undefined) return 'is empty';
  if (Array.isArray(value)) return 'is a list';
  if (typeof value === 'object') return 'is a mapping';
  const text = typeof value === 'string' ? JSON.stringify(value) : `${value as number | boolean | bigint}`;
  if (typeof value === 'string') return `is the string ${text.length > 60 ? `${text.slice(0, 57)}…"` : text}`;
  const hint = code === 's' ? `; put it in quotes` : '';
  return `is the ${typeof value} ${text}${hint}`;
};
