import { type OrderedMap, Set as ImmutableSet } from 'immutable';
import { type ObjectName, storeKey, type ReferencedObject } from '../references/referenced-object.js';
import { updated } from '../values/updated.js';
import type { ReflectorEvent } from './reflector-event.js';

/** An object that pods refer to, as far as its watch has read it. */
export interface WatchedObject<T extends ReferencedObject> {
  /** The same value from the first reference to the last; an object that is referred to again has another one. */
  readonly id: ObjectName;
  /** The UIDs of the pods that refer to the object. */
  readonly references: ImmutableSet<string>;
  /** `final`: the object is immutable, so it is not watched. */
  readonly state: 'followed' | 'idle' | 'final';
  /** Whether the server has answered since the watch began. */
  readonly isSynced: boolean;
  /** The last known object, of any age. */
  readonly object: T | undefined;
  /** The error of the running watch, until it recovers. */
  readonly problem: unknown;
  /** The time of the last read, by the scheduler, in milliseconds. */
  readonly readAt: number;
}

/** The objects of one kind that pods refer to, by `storeKey`, in the order of their first references. */
export type WatchedObjects<T extends ReferencedObject> = OrderedMap<string, WatchedObject<T>>;

/** Adds a reference of the pod of that UID. An object without other references is new, and idle. */
export const withReference = <T extends ReferencedObject>(
  objects: WatchedObjects<T>,
  id: ObjectName,
  uid: string,
): WatchedObjects<T> => {
  const key = storeKey(id.namespace, id.name);
  const known = objects.get(key) ?? newObject<T>(id);
  return objects.set(key, updated(known, { references: known.references.add(uid) }));
};

/** Removes a reference. An object without references is dropped. */
export const withoutReference = <T extends ReferencedObject>(
  objects: WatchedObjects<T>,
  { namespace, name }: ObjectName,
  uid: string,
): WatchedObjects<T> => {
  const key = storeKey(namespace, name);
  const known = objects.get(key);
  if (!known) return objects;
  const references = known.references.delete(uid);
  return references.isEmpty() ? objects.delete(key) : objects.set(key, updated(known, { references }));
};

/** Returns the object of that identity; undefined once it has lost its last reference. */
export const watchedObject = <T extends ReferencedObject>(
  objects: WatchedObjects<T>,
  id: ObjectName,
): WatchedObject<T> | undefined => {
  const known = objects.get(storeKey(id.namespace, id.name));
  return known?.id === id ? known : undefined;
};

/** Changes fields of the object of that identity, if it still has references. */
export const withWatched = <T extends ReferencedObject>(
  objects: WatchedObjects<T>,
  id: ObjectName,
  fields: Partial<WatchedObject<T>>,
): WatchedObjects<T> => {
  const known = watchedObject(objects, id);
  return known ? objects.set(storeKey(id.namespace, id.name), updated(known, fields)) : objects;
};

/** Returns the object after an event of its watch. */
export const foldWatched = <T extends ReferencedObject>(
  watched: WatchedObject<T>,
  event: ReflectorEvent<T>,
): WatchedObject<T> => {
  switch (event.kind) {
    case 'replaced': {
      // An idle object may have been changed or deleted meanwhile.
      const object = event.objects.find(({ metadata }) => metadata.name === watched.id.name);
      return { ...watched, object, problem: undefined, isSynced: true };
    }
    case 'put':
      return { ...watched, object: event.object };
    case 'deleted':
      return { ...watched, object: undefined };
    case 'problem':
      return { ...watched, problem: event.error };
    case 'recovered':
      return { ...watched, problem: undefined };
  }
};

/** Whether two objects are the same version. An object that was deleted and made again has another UID, and maybe an older version. */
export const isSameVersion = (one: ReferencedObject | undefined, other: ReferencedObject | undefined): boolean =>
  versionOf(one) === versionOf(other);

const versionOf = (object: ReferencedObject | undefined): string | undefined =>
  object && `${object.metadata.uid} ${object.metadata.resourceVersion}`;

/**
 * Returns the watched objects without a read in the last `maxIdleMs` before `now`, the scheduler's milliseconds. An object without its
 * first answer stays watched: the server has already done the work of the request.
 */
export const unreadObjects = <T extends ReferencedObject>(
  objects: WatchedObjects<T>,
  now: number,
  maxIdleMs: number,
): readonly WatchedObject<T>[] =>
  [...objects.values()].filter(
    ({ state, isSynced, readAt }) => state === 'followed' && isSynced && now > readAt + maxIdleMs,
  );

const newObject = <T extends ReferencedObject>(id: ObjectName): WatchedObject<T> => ({
  id,
  references: ImmutableSet(),
  state: 'idle',
  isSynced: false,
  object: undefined,
  problem: undefined,
  readAt: -Infinity,
});
