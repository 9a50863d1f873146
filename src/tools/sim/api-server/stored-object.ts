import type { ApiObject, ApiObjectMeta } from '../../../model/kube-api/api-object.js';

export type Fields = Readonly<Record<string, unknown>>;

export interface StoredMeta extends ApiObjectMeta {
  readonly generateName?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** An object of the simulated API server; never changed in place. */
export interface StoredObject extends ApiObject {
  readonly metadata: StoredMeta;
  readonly spec?: Fields;
  readonly status?: Fields;
}

/** Returns the JSON value of `JSON.stringify`: undefined fields are left out. */
export const asSent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Times of the API have whole seconds. */
export const apiTime = (unixMs: number): string => new Date(unixMs).toISOString().replace(/\.\d+Z$/, 'Z');

/** The object without some of its fields. */
export const without = <T extends object, Field extends keyof T>(
  object: T,
  ...fields: readonly Field[]
): Omit<T, Field> =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !fields.includes(name as Field))) as Omit<T, Field>;
