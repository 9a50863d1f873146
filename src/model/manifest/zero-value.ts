/** The zeros of the scalar codes of the schema table. A time has none. */
const ZEROS: Readonly<Record<string, unknown>> = { s: '', b: false, i: 0, l: 0, n: 0, q: '0', x: 0, y: '' };
const WITHOUT_ZERO: ReadonlySet<string> = new Set(['t', '*']);

/**
 * Returns the value of a null that cannot be left out, as Go reads it: an entry of a list or of a map has the zero of its type, which
 * for an object is one without fields. A null field of an object is absent instead. Undefined for a type without a zero in JSON.
 *
 * Source: encoding/json of Go, for which a null has no effect on a value that is not a pointer, map or slice
 */
export const zeroValue = (code: string): unknown => {
  if (code.startsWith('[]')) return [];
  if (code.startsWith('{}')) return {};
  if (Object.hasOwn(ZEROS, code)) return ZEROS[code];
  return WITHOUT_ZERO.has(code) ? undefined : {};
};

/** A reviver of `JSON.parse`: leaves null fields of objects out. */
export function withoutNullFields(this: unknown, _key: string, value: unknown): unknown {
  return value === null && !Array.isArray(this) ? undefined : value;
}
