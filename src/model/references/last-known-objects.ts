import { OrderedMap, OrderedSet } from 'immutable';
import type { ApiObject } from '../kube-api/api-object.js';
import { type ReadApiObject, readApiObject } from '../kube-api/read-api-object.js';

/** The last known objects of a node, and which of them the disk does not have. */
export interface LastKnownObjects {
  /** By `lastKnownKey`. */
  readonly objects: OrderedMap<string, ApiObject>;
  /** The keys with an open or failed write or removal, oldest first. */
  readonly unwritten: OrderedSet<string>;
  /** The last write or removal to end has failed. */
  readonly hasFailed: boolean;
}

export const NO_LAST_KNOWN: LastKnownObjects = { objects: OrderedMap(), unwritten: OrderedSet(), hasFailed: false };

/** Sets the object of a key. It has to be written, unless the disk has this version of it. */
export const withKept = (known: LastKnownObjects, key: string, object: ApiObject): LastKnownObjects => {
  const before = known.objects.get(key)?.metadata;
  const { uid, resourceVersion } = object.metadata;
  const isSame = before !== undefined && before.uid === uid && before.resourceVersion === resourceVersion;
  return {
    ...known,
    objects: known.objects.set(key, object),
    unwritten: isSame ? known.unwritten : known.unwritten.add(key),
  };
};

/** Drops the object of a key. It has to be removed from the disk, where it may be also if it is not known. */
export const withoutKept = (known: LastKnownObjects, key: string): LastKnownObjects => ({
  ...known,
  objects: known.objects.delete(key),
  unwritten: known.unwritten.add(key),
});

/** The write or removal of a key begins. */
export const writeBegun = (known: LastKnownObjects, key: string): LastKnownObjects => ({
  ...known,
  unwritten: known.unwritten.delete(key),
});

/** A write or removal has ended well. */
export const writeEnded = (known: LastKnownObjects): LastKnownObjects => ({ ...known, hasFailed: false });

/** The write or removal of a key has failed. */
export const writeFailed = (known: LastKnownObjects, key: string): LastKnownObjects => ({
  ...known,
  unwritten: known.unwritten.add(key),
  hasFailed: true,
});

/**
 * Adds an object that an earlier agent wrote, unless the key was kept or dropped since: that is newer. `problem`: why the object cannot
 * be used.
 */
export const withRead = (
  known: LastKnownObjects,
  key: string,
  object: unknown,
): { readonly known: LastKnownObjects; readonly problem?: string } => {
  if (known.objects.has(key) || known.unwritten.has(key)) return { known };
  const read = readKept(key, object);
  if ('problem' in read) return { known, problem: read.problem };
  return { known: { ...known, objects: known.objects.set(key, read.object) } };
};

/** Reads a kept object or list. A list with an item that is not of its type is rejected as a whole, as it is from the server. */
const readKept = (key: string, object: unknown): ReadApiObject<ApiObject> => {
  const [kind = ''] = key.split(' ');
  const ofList = /^(Service|RuntimeClass|ClusterTrustBundle)List$/.exec(kind)?.[1];
  if (ofList === undefined)
    return kind === 'ConfigMap' || kind === 'Secret' ? readApiObject(object, kind) : { problem: 'is of no known kind' };
  const { metadata, items: written } = object as { readonly metadata?: unknown; readonly items?: unknown };
  const items = written ?? [];
  if (typeof metadata !== 'object' || metadata === null || !Array.isArray(items)) return { problem: 'is no list' };
  const read: ApiObject[] = [];
  for (const item of items as readonly unknown[]) {
    const one = readApiObject(item, ofList);
    if ('problem' in one) return one;
    read.push(one.object);
  }
  return { object: { ...(object as ApiObject), ...{ items: read } } };
};
