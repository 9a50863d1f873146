import { Map as ImmutableMap } from 'immutable';
import {
  catchError,
  defer,
  finalize,
  map,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  share,
  throwError,
} from 'rxjs';
import { type ReferencedObject, storeKey } from '../../model/references/referenced-object.js';
import {
  answerAfter,
  type CachedObjects,
  freshObject,
  type ObjectAnswer,
  withCacheReference,
  withObjectAnswer,
  withoutCacheReference,
} from '../../model/reflector/cached-object.js';
import { notRegistered, type ObjectStore } from './object-store.js';

/** The lifetime of a read object, in milliseconds, unless the Node sets another one. */
export const DEFAULT_TTL_MS = 60_000;

export interface TtlObjectsOptions<T extends ReferencedObject> {
  /** Requests the object; with `mayBeCached` the server may answer from its cache. Errors: `ApiError`. */
  readonly get: (namespace: string, name: string, mayBeCached: boolean) => Observable<T>;
  /** The lifetime of a read object that the Node sets, in milliseconds; undefined if it sets none. */
  readonly ttlMs: () => number | undefined;
  readonly scheduler: SchedulerLike;
}

/**
 * Makes a store whose objects are requested when they are read, and cached for a while. A new reference makes the next read send a
 * request. While the server does not answer, reads emit the cached object.
 *
 * Source: pkg/kubelet/util/manager/cache_based_manager.go objectStore
 */
export const ttlObjects = <T extends ReferencedObject>({
  get,
  ttlMs,
  scheduler,
}: TtlObjectsOptions<T>): ObjectStore<T> => {
  let objects: CachedObjects<T> = ImmutableMap();
  /** The running requests, by `storeKey`; reads of that time share them. */
  const asked = new Map<string, Observable<T>>();

  const ask = (key: string, namespace: string, name: string): Observable<T> => {
    const kept = objects.get(key)?.answer;
    const mayBeCached = kept !== undefined && 'object' in kept;
    // A request from before a new reference answers its own reads only.
    const isCurrent = (): boolean => asked.get(key) === object$;
    const object$: Observable<T> = defer(() => get(namespace, name, mayBeCached)).pipe(
      map((object): ObjectAnswer<T> => ({ object })),
      catchError((error: unknown) => of<ObjectAnswer<T>>({ error })),
      map((reply) => {
        const { answer, isNew } = answerAfter(kept, reply);
        if (isNew && isCurrent()) objects = withObjectAnswer(objects, key, answer, scheduler.now());
        if ('error' in answer) throw answer.error;
        return answer.object;
      }),
      finalize(() => isCurrent() && asked.delete(key)),
      share(),
    );
    asked.set(key, object$);
    return object$;
  };

  return {
    refer: (namespace, name, uid) => {
      const key = storeKey(namespace, name);
      objects = withCacheReference(objects, key, uid);
      asked.delete(key);
    },
    release: (namespace, name, uid) => {
      const key = storeKey(namespace, name);
      objects = withoutCacheReference(objects, key, uid);
      if (!objects.has(key)) asked.delete(key);
    },
    read: (namespace, name) =>
      defer(() => {
        const key = storeKey(namespace, name);
        const known = objects.get(key);
        if (!known) return throwError(() => notRegistered(namespace, name));
        const object = freshObject(known, scheduler.now(), ttlMs() ?? DEFAULT_TTL_MS);
        return object ? of(object) : (asked.get(key) ?? ask(key, namespace, name));
      }),
    changed$: NEVER,
    run$: NEVER,
  };
};
