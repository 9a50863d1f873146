import { type Map as ImmutableMap, Set as ImmutableSet } from 'immutable';
import { isNotFound } from '../kube-api/api-error.js';
import type { ReferencedObject } from '../references/referenced-object.js';
import { compareResourceVersions } from './resource-version.js';

/** The answer to a read of an object. */
export type ObjectAnswer<T> = { readonly object: T } | { readonly error: unknown };

/** An object that pods refer to, as it was read last. */
export interface CachedObject<T extends ReferencedObject> {
  /** The UIDs of the pods that refer to the object. */
  readonly references: ImmutableSet<string>;
  /** The last answer since the last new reference; an error only if the object does not exist. */
  readonly answer?: ObjectAnswer<T> | undefined;
  /** The time of the answer, by the scheduler, in milliseconds. */
  readonly answeredAt: number;
}

/** The objects of one kind that pods refer to, by `storeKey`. */
export type CachedObjects<T extends ReferencedObject> = ImmutableMap<string, CachedObject<T>>;

/** Adds a reference. The object has to be requested again. */
export const withCacheReference = <T extends ReferencedObject>(
  objects: CachedObjects<T>,
  key: string,
  uid: string,
): CachedObjects<T> => {
  const references = objects.get(key)?.references ?? ImmutableSet<string>();
  return objects.set(key, { references: references.add(uid), answeredAt: -Infinity });
};

/** Removes a reference. An object without references is dropped. */
export const withoutCacheReference = <T extends ReferencedObject>(
  objects: CachedObjects<T>,
  key: string,
  uid: string,
): CachedObjects<T> => {
  const known = objects.get(key);
  if (!known) return objects;
  const references = known.references.delete(uid);
  return references.isEmpty() ? objects.delete(key) : objects.set(key, { ...known, references });
};

/** Keeps an answer for later reads, if the object still has references. */
export const withObjectAnswer = <T extends ReferencedObject>(
  objects: CachedObjects<T>,
  key: string,
  answer: ObjectAnswer<T>,
  now: number,
): CachedObjects<T> => {
  const known = objects.get(key);
  return known ? objects.set(key, { ...known, answer, answeredAt: now }) : objects;
};

/** Returns the object if it was read less than `ttlMs` before `now`. */
export const freshObject = <T extends ReferencedObject>(
  { answer, answeredAt }: CachedObject<T>,
  now: number,
  ttlMs: number,
): T | undefined => (answer && 'object' in answer && now < answeredAt + ttlMs ? answer.object : undefined);

/**
 * Returns the answer to a read after the reply of the server, and whether it is kept. While the server does not decide, and while its
 * cache is older than the kept object, that is the kept answer.
 */
export const answerAfter = <T extends ReferencedObject>(
  kept: ObjectAnswer<T> | undefined,
  reply: ObjectAnswer<T>,
): { readonly answer: ObjectAnswer<T>; readonly isNew: boolean } => {
  if ('error' in reply)
    return isNotFound(reply.error) ? { answer: reply, isNew: true } : { answer: kept ?? reply, isNew: false };
  const isOlder = kept !== undefined && 'object' in kept && isOlderVersion(reply.object, kept.object);
  return isOlder ? { answer: kept, isNew: false } : { answer: reply, isNew: true };
};

const isOlderVersion = (object: ReferencedObject, other: ReferencedObject): boolean =>
  compareResourceVersions(object.metadata.resourceVersion ?? '', other.metadata.resourceVersion ?? '') === -1;
