import { decodeError, encodeError } from './encode-error.js';
import type { Plain } from './recording-entry.js';

/** Returns the replacement of a text in the field `key`; the text itself if nothing has to be hidden. */
export type Redact = (text: string, key: string) => string;

const AS_IT_IS: Redact = (text) => text;

/**
 * Encodes a value as JSON: a value that JSON cannot hold is under a key that begins with `$`. Fields that are
 * `undefined` and functions are left out. Shared values are written several times.
 *
 * Errors: throws for a value that is nested deeper than any value of a port, such as a cyclic one.
 */
export const encodeValue = (value: unknown, redact: Redact = AS_IT_IS): Plain => encode(value, redact, '', 0);

/** Returns the value of `encodeValue`, or an equal one. Errors: throws for an unknown `$` key. */
export const decodeValue = (plain: Plain): unknown => {
  if (typeof plain !== 'object' || plain === null) return plain;
  if (Array.isArray(plain)) return (plain as readonly Plain[]).map(decodeValue);
  const keys = Object.keys(plain);
  const [key = ''] = keys;
  if (keys.length === 1 && key.startsWith('$')) return decodeTagged(key, (plain as Record<string, Plain>)[key]!);
  return decodeFields(plain as Record<string, Plain>);
};

const DEEPEST = 200;

const encode = (value: unknown, redact: Redact, key: string, depth: number): Plain => {
  switch (typeof value) {
    case 'string':
      return redact(value, key);
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $number: Object.is(value, -0) ? '-0' : `${value}` };
    case 'bigint':
      return { $bigint: `${value}` };
    case 'object':
      return value === null ? null : encodeObject(value, redact, key, depth);
    default:
      return { $undefined: true };
  }
};

const encodeObject = (value: object, redact: Redact, key: string, depth: number): Plain => {
  if (depth > DEEPEST) throw new Error(`a value contains itself, or is nested more than ${DEEPEST} deep (at ${key})`);
  const inside = (item: unknown, field = key): Plain => encode(item, redact, field, depth + 1);
  if (Array.isArray(value)) {
    const items: Plain[] = [];
    for (const item of value as readonly unknown[]) items.push(inside(item));
    return items;
  }
  if (value instanceof Error) return { $error: encodeError(value, inside) };
  if (value instanceof Uint8Array) return encodeBytes(value, redact, key);
  if (value instanceof Date) return { $date: Number.isNaN(value.getTime()) ? 'invalid' : value.getTime() };
  if (value instanceof Map) return { $map: [...value].map(([name, item]) => [inside(name), inside(item)]) };
  if (value instanceof Set) return { $set: [...value].map((item) => inside(item)) };
  const fields: Record<string, Plain> = {};
  let isPlain = true;
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined || typeof item === 'function') continue;
    if (name.startsWith('$')) isPlain = false;
    // A key may contain a secret, too.
    set(fields, redact(name, ''), inside(item, name));
  }
  return isPlain ? fields : { $object: fields };
};

/**
 * Writes bytes that are text as text, so that secrets are found in it. Other bytes are searched with one character for each
 * byte; what a replay computes from a placeholder may be text.
 */
const encodeBytes = (bytes: Uint8Array, redact: Redact, key: string): Plain => {
  try {
    return { $text: redact(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), key) };
  } catch {
    const binary = binaryText(bytes);
    const hidden = redact(binary, key);
    if (hidden === binary) return { $bytes: btoa(binary) };
    return encodeBytes(
      Uint8Array.from(hidden, (character) => character.charCodeAt(0)),
      AS_IT_IS,
      key,
    );
  }
};

/** Returns a text with one character for each byte. */
export const binaryText = (bytes: Uint8Array): string => {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return binary;
};

const decodeFields = (plain: Readonly<Record<string, Plain>>): Record<string, unknown> => {
  const fields: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(plain)) set(fields, name, decodeValue(item));
  return fields;
};

/** Assigning to `__proto__` does not create a field. */
const set = <T>(fields: Record<string, T>, name: string, value: T): void => {
  if (name !== '__proto__') fields[name] = value;
  else Object.defineProperty(fields, name, { value, configurable: true, enumerable: true, writable: true });
};

const decodeTagged = (tag: string, content: Plain): unknown => {
  switch (tag) {
    case '$number':
      return Number(content);
    case '$bigint':
      return BigInt(content as string);
    case '$undefined':
      return undefined;
    case '$text':
      return new TextEncoder().encode(content as string);
    case '$bytes':
      return Uint8Array.from(atob(content as string), (character) => character.charCodeAt(0));
    case '$date':
      // An invalid date is a text here, and null in recordings of earlier versions.
      return new Date(typeof content === 'number' ? content : NaN);
    case '$map':
      return new Map(
        (content as readonly (readonly [Plain, Plain])[]).map(([k, v]) => [decodeValue(k), decodeValue(v)]),
      );
    case '$set':
      return new Set((content as readonly Plain[]).map(decodeValue));
    case '$error':
      return decodeError(content as Readonly<Record<string, Plain>>, decodeValue);
    case '$object':
      return decodeFields(content as Readonly<Record<string, Plain>>);
    default:
      throw new Error(`there is no value of the kind ${JSON.stringify(tag)}`);
  }
};
