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
import { isNotFound } from '../../model/api/api-error.js';
import type { ReferencedObject } from '../../model/api/referenced-object.js';
import { compareResourceVersions } from '../../model/api/resource-version.js';
import { notRegistered, type ObjectStore, storeKey } from './object-store.js';

/** What was read may be believed so long where the node object says nothing else. */
export const DEFAULT_TTL_MS = 60_000;

export interface TtlObjectsOptions<T extends ReferencedObject> {
  /** Asks the server; with `mayBeCached` it may answer from its cache. Errors: `ApiError`. */
  readonly get: (namespace: string, name: string, mayBeCached: boolean) => Observable<T>;
  /** Milliseconds that an object may be believed, as the node object says; undefined where it says nothing. */
  readonly ttlMs: () => number | undefined;
  readonly scheduler: SchedulerLike;
}

/**
 * Objects that are asked for when they are read, and believed for a while after. A new reference makes the next read ask anew; while
 * the server cannot be asked, what was read before is given.
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
        // A cache of the server may lag behind what was read before.
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
    run$: NEVER,
  };
};

type Answer<T> = { readonly object: T } | { readonly error: unknown };

interface Entry<T> {
  /** The last one; an error only where there is no such object. */
  answer: Answer<T> | undefined;
  /** Of the scheduler. */
  answeredAt: number;
  /** Shared by all who read meanwhile. */
  asking$: Observable<T> | undefined;
}

interface Item<T> {
  /** UIDs of pods. */
  readonly references: Set<string>;
  entry: Entry<T>;
}

const newEntry = <T>(): Entry<T> => ({ answer: undefined, answeredAt: -Infinity, asking$: undefined });

const isOlderVersion = (object: ReferencedObject, other: ReferencedObject): boolean =>
  compareResourceVersions(object.metadata.resourceVersion ?? '', other.metadata.resourceVersion ?? '') === -1;
