import { podSchema } from '../../generated/pod-schema.js';
import { formatFieldPath } from '../manifest/field-issue.js';
import { scalarOf, textOfQuantity } from '../manifest/check-shape.js';
import { DNS_LABEL, DNS_SUBDOMAIN, POD_UID, type TextRule } from '../manifest/names.js';
import { zeroValue } from '../manifest/zero-value.js';
import type { ApiObject } from './api-object.js';

/** No object of the API is nested deeper. A deeper one would overflow the stack when it is compared or written. */
const MAX_DEPTH = 100;

export type ReadApiObject<T> = { readonly object: T } | { readonly problem: string };

/**
 * Checks an object from the API server or from disk against a type of the schema table, so that callers may rely on the
 * type. It is read as a kubelet reads JSON: a null or missing field is empty, unknown fields stay, and a field of
 * another type is an error. The same object is returned if nothing had to be changed.
 *
 * A problem names the field and never its value, which may be secret. Source: encoding/json of Go; apimachinery
 * ObjectMeta
 */
export const readApiObject = <T extends ApiObject = ApiObject>(value: unknown, type: string): ReadApiObject<T> => {
  try {
    const object = readCode(value, type, undefined) as Partial<T>;
    if (!object.metadata) return { problem: 'has no metadata' };
    const problem = problemOfMeta(object.metadata, type) ?? problemOfKeys(object);
    return problem === undefined ? { object: object as T } : { problem };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
};

/**
 * Returns the problem of a name or key that is invalid in Kubernetes, such as one that leads out of a directory.
 * Undefined for a valid one.
 */
export const problemOfName = (value: unknown, rule: TextRule, path: string): string | undefined => {
  if (typeof value !== 'string' || value === '') return `has no ${path}`;
  if (value.length <= rule.maxLength && rule.pattern.test(value)) return undefined;
  return `has the ${path} ${JSON.stringify(value.slice(0, QUOTED))}, expected ${rule.expected}`;
};

const QUOTED = 100;

const DATA_KEY: TextRule = {
  pattern: /^(?!\.\.)(?!\.$)[-._a-zA-Z0-9]+$/,
  maxLength: 253,
  expected: 'at most 253 letters, digits, "-", "_" and ".", not ".", and not beginning with ".."',
};

/** Types whose names only have to fit into a path. Source: pkg/apis/certificates/validation/validation.go */
const RULES_OF_NAMES: Readonly<Record<string, TextRule>> = {
  CertificateSigningRequest: {
    pattern: /^(?!\.{1,2}$)[-._a-zA-Z0-9]+$/,
    maxLength: 253,
    expected: 'at most 253 letters, digits, "-", "_" and ".", not "." or ".."',
  },
  // The name of its signer, with ":" for "/", is before the name.
  ClusterTrustBundle: {
    pattern: /^(?!\.{1,2}$)[-.:a-z0-9]+$/,
    maxLength: 1024,
    expected: 'at most 1024 lower-case letters, digits, "-", "." and ":", not "." or ".."',
  },
};

/** Objects that may have no name, such as the reply with a token. */
const problemOfMeta = ({ name, namespace, uid }: ApiObject['metadata'], type: string): string | undefined =>
  (name ? problemOfName(name, RULES_OF_NAMES[type] ?? DNS_SUBDOMAIN, 'metadata.name') : undefined) ??
  (namespace ? problemOfName(namespace, DNS_LABEL, 'metadata.namespace') : undefined) ??
  (uid ? problemOfName(uid, POD_UID, 'metadata.uid') : undefined);

/** The keys of ConfigMaps and Secrets, which become names of files. */
const problemOfKeys = (object: object): string | undefined => {
  const { data, binaryData } = object as { readonly data?: unknown; readonly binaryData?: unknown };
  for (const [field, entries] of Object.entries({ data, binaryData })) {
    if (typeof entries !== 'object' || entries === null) continue;
    for (const key of Object.keys(entries)) {
      const problem = problemOfName(key, DATA_KEY, `key in ${field}`);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
};

/** A place in an object, linked to its parent: one is created for every field that is read. */
interface Place {
  readonly above: Place | undefined;
  readonly key: string | number;
  readonly depth: number;
}

const below = (above: Place | undefined, key: string | number): Place => ({
  above,
  key,
  depth: (above?.depth ?? 0) + 1,
});

const textOf = (place: Place | undefined): string => {
  const path: (string | number)[] = [];
  for (let at = place; at; at = at.above) path.unshift(at.key);
  return path.length === 0 ? 'it' : formatFieldPath(path);
};

class Unreadable extends Error {
  constructor(place: Place | undefined, found: string, expected?: string) {
    super(`cannot be read: ${textOf(place)} ${found}${expected === undefined ? '' : `, expected ${expected}`}`);
  }
}

const readCode = (value: unknown, code: string, place: Place | undefined): unknown => {
  if (place && place.depth > MAX_DEPTH) throw new Unreadable(undefined, `is nested more than ${MAX_DEPTH} levels deep`);
  if (value === null || value === undefined) return zeroOf(code, place);
  if (code === '*') return readAnything(value, place);
  if (code.startsWith('[]')) {
    if (!Array.isArray(value)) throw new Unreadable(place, nameOf(value), 'a list');
    return sameOr(value, (item, index) => readCode(item, code.slice(2), below(place, index)));
  }
  if (code.startsWith('{}')) {
    const map = asMapping(value, place, 'a mapping of names to values');
    return changed(
      map,
      Object.entries(map).map(([key, item]) => [key, readCode(item, code.slice(2), below(place, key))]),
    );
  }
  const scalar = scalarOf(code);
  if (!scalar) return readObject(value, code, place);
  // A field of 64 bits may exceed JavaScript's exact integers.
  if (code === 'l' ? !Number.isInteger(value) : !scalar.accepts(value))
    throw new Unreadable(place, nameOf(value), scalar.expected);
  return code === 'q' ? textOfQuantity(value as string | number) : value;
};

const readObject = (value: unknown, type: string, place: Place | undefined): unknown => {
  const fields = fieldsOf(type);
  const object = asMapping(value, place, `a mapping with the fields of ${type}`);
  const read: [string, unknown][] = [];
  for (const [name, item] of Object.entries(object)) {
    const code = Object.hasOwn(fields, name) ? fields[name]! : '*';
    // Absent fields stay absent; required ones become empty.
    if (code !== '*' && (item === null || item === undefined)) continue;
    read.push([name, readCode(item, code.replace('!', ''), below(place, name))]);
  }
  for (const [name, code] of Object.entries(fields)) {
    if (code.startsWith('!') && (object[name] === undefined || object[name] === null))
      read.push([name, zeroOf(code.slice(1), below(place, name))]);
  }
  return changed(object, read);
};

/** Checks only the depth of unknown fields. */
const readAnything = (value: unknown, place: Place | undefined): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  for (const [key, item] of Object.entries(value)) readCode(item, '*', below(place, key));
  return value;
};

const zeroOf = (code: string, place: Place | undefined): unknown => {
  if (code === '*') return null;
  const zero = zeroValue(code);
  if (zero === undefined) throw new Unreadable(place, 'is missing', scalarOf(code)?.expected);
  const isObject = !code.startsWith('[]') && !code.startsWith('{}') && !scalarOf(code);
  return isObject ? readObject(zero, code, place) : zero;
};

const fieldsOf = (type: string): Readonly<Record<string, string>> => {
  const fields = podSchema[type];
  if (!fields) throw new Error(`the schema has no type ${type}`);
  return fields;
};

const asMapping = (value: unknown, place: Place | undefined, expected: string): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unreadable(place, nameOf(value), expected);
  return value as Readonly<Record<string, unknown>>;
};

const nameOf = (value: unknown): string =>
  Array.isArray(value) ? 'is a list' : typeof value === 'object' ? 'is a mapping' : `is a ${typeof value}`;

const sameOr = (items: readonly unknown[], read: (item: unknown, index: number) => unknown): readonly unknown[] => {
  const copy = items.map(read);
  return copy.every((item, index) => item === items[index]) ? items : copy;
};

const changed = (before: Readonly<Record<string, unknown>>, entries: readonly [string, unknown][]): object =>
  entries.length === Object.keys(before).length && entries.every(([key, item]) => before[key] === item)
    ? before
    : Object.fromEntries(entries);
