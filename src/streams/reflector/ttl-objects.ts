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
import { isNotFound } from '../../model/kube-api/api-error.js';
import type { ReferencedObject } from '../../model/references/referenced-object.js';
import { compareResourceVersions } from '../../model/reflector/resource-version.js';
import { notRegistered, type ObjectStore, storeKey } from './object-store.js';

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
  const items = new Map<string, Item<T>>();

  const isFresh = ({ answer, answeredAt }: Entry<T>): boolean =>
    answer !== undefined && 'object' in answer && scheduler.now() < answeredAt + (ttlMs() ?? DEFAULT_TTL_MS);

  const ask = (entry: Entry<T>, namespace: string, name: string): Observable<T> => {
    const { answer: before } = entry;
    const known = before && 'object' in before ? before.object : undefined;
    return defer(() => get(namespace, name, known !== undefined)).pipe(
      map((object): Answer<T> => {
        // The cache of the server may be older than the cached object.
        const isOlder = known !== undefined && isOlderVersion(object, known);
        if (!isOlder) Object.assign(entry, { answer: { object }, answeredAt: scheduler.now() });
        return isOlder ? { object: known } : { object };
      }),
      catchError((error: unknown) => {
        if (isNotFound(error)) Object.assign(entry, { answer: { error }, answeredAt: scheduler.now() });
        else if (before) return of(before);
        return of<Answer<T>>({ error });
      }),
      map((answer) => {
        if ('error' in answer) throw answer.error;
        return answer.object;
      }),
    );
  };

  return {
    refer: (namespace, name, uid) => {
      const key = storeKey(namespace, name);
      const item = items.get(key) ?? { references: new Set(), entry: newEntry<T>() };
      item.references.add(uid);
      item.entry = newEntry();
      items.set(key, item);
    },
    release: (namespace, name, uid) => {
      const key = storeKey(namespace, name);
      const item = items.get(key);
      item?.references.delete(uid);
      if (item?.references.size === 0) items.delete(key);
    },
    read: (namespace, name) =>
      defer(() => {
        const entry = items.get(storeKey(namespace, name))?.entry;
        if (!entry) return throwError(() => notRegistered(namespace, name));
        const { answer } = entry;
        if (answer && 'object' in answer && isFresh(entry)) return of(answer.object);
        entry.asking$ ??= ask(entry, namespace, name).pipe(
          finalize(() => (entry.asking$ = undefined)),
          share(),
        );
        return entry.asking$;
      }),
    changed$: NEVER,
    run$: NEVER,
  };
};

type Answer<T> = { readonly object: T } | { readonly error: unknown };

interface Entry<T> {
  /** The last answer; an error only if the object does not exist. */
  answer: Answer<T> | undefined;
  /** The time of the answer, by the scheduler. */
  answeredAt: number;
  /** The running request; reads of that time share it. */
  asking$: Observable<T> | undefined;
}

interface Item<T> {
  /** The UIDs of the pods that refer to the object. */
  readonly references: Set<string>;
  entry: Entry<T>;
}

const newEntry = <T>(): Entry<T> => ({ answer: undefined, answeredAt: -Infinity, asking$: undefined });

const isOlderVersion = (object: ReferencedObject, other: ReferencedObject): boolean =>
  compareResourceVersions(object.metadata.resourceVersion ?? '', other.metadata.resourceVersion ?? '') === -1;
