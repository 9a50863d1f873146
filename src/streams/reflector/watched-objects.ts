import {
  defer,
  finalize,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  Subject,
  take,
  takeUntil,
  tap,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { ApiError } from '../../model/kube-api/api-error.js';
import { isImmutable, type ReferencedObject } from '../../model/references/referenced-object.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import { isServerAway } from '../../model/kube-api/server-away.js';
import type { Logger } from '../ports/logger.js';
import type { KeptObjects } from '../references/kept-objects.js';
import { notRegistered, type ObjectName, type ObjectStore, storeKey } from './object-store.js';

/** The time that a read waits for the first answer of the server, in milliseconds. */
export const SYNC_PATIENCE_MS = 1_000;
/** The period in which unread objects are found, in milliseconds. */
export const IDLE_CHECK_MS = 60_000;
export const MIN_IDLE_MS = 60_000;
/** The number of syncs of a pod without a read, after which an object is idle. Volumes read their objects in every sync. */
const IDLE_SYNCS = 5;

export interface WatchedObjectsOptions<T extends ReferencedObject> {
  /** The kind in messages: `configmap`. */
  readonly kind: string;
  /** Watches one object. Errors: none. Ends: never. */
  readonly follow: (namespace: string, name: string) => Observable<ReflectorEvent<T>>;
  /** The time between two syncs of a pod without changes, in milliseconds. */
  readonly syncFrequencyMs: number;
  /** Keeps objects across restarts of the agent. Default: none are kept. */
  readonly kept?: KeptObjects<T> | undefined;
  readonly scheduler: SchedulerLike;
  readonly log: Logger;
}

/**
 * Makes a store that watches each object from its first reference to its last. An object that is not read for a while is not watched
 * until the next read, which waits for the server; an immutable object is not watched after it was read. While the server is away,
 * reads emit the last known object, of an earlier agent if there is no newer one.
 *
 * Source: pkg/kubelet/util/manager/watch_based_manager.go, where reads of idle objects fail while the server is away
 */
export const watchedObjects = <T extends ReferencedObject>({
  kind,
  follow,
  syncFrequencyMs,
  kept,
  scheduler,
  log,
}: WatchedObjectsOptions<T>): ObjectStore<T> => {
  const maxIdleMs = Math.max(IDLE_SYNCS * syncFrequencyMs, MIN_IDLE_MS);
  const items = new Map<string, Item<T>>();
  const start$ = new Subject<Item<T>>();
  const changed$ = new Subject<ObjectName>();

  const start = (item: Item<T>): void => {
    item.state = 'followed';
    item.problem = undefined;
    start$.next(item);
  };
  const stop = (item: Item<T>, state: 'idle' | 'final'): void => {
    item.state = state;
    item.stop$.next();
  };
  const followed = (item: Item<T>): Observable<never> =>
    defer(() => follow(item.namespace, item.name)).pipe(
      tap((event) => {
        const before = item.object;
        fold(item, event);
        // Kept at once, in case the agent is killed.
        if (isOfObjects(event)) remember(item);
        if (event.kind === 'replaced') item.synced$.next();
        if (versionOf(before) !== versionOf(item.object)) changed$.next({ namespace: item.namespace, name: item.name });
      }),
      finalize(() => (item.isSynced = false)),
      ignoreElements(),
      takeUntil(item.stop$),
    );
  const remember = ({ namespace, name, object }: Item<T>): void => {
    if (object) kept?.keep(namespace, name, object);
    else kept?.drop(namespace, name);
  };
  const stopIdle = (): void => {
    for (const item of items.values()) {
      // An object without its first answer stays watched: the server has already done the work of the request.
      const isIdle = item.isSynced && scheduler.now() > item.readAt + maxIdleMs;
      if (item.state === 'followed' && isIdle) stop(item, 'idle');
    }
  };

  const found = (item: Item<T>): T => {
    const { object, name } = item;
    if (!object) throw new ApiError({ code: 404, reason: 'NotFound', message: `${kind} "${name}" not found` });
    if (item.state === 'followed' && item.isSynced && isImmutable(object)) stop(item, 'final');
    return object;
  };
  const synced = (item: Item<T>): Observable<unknown> => {
    if (item.isSynced || item.state === 'final') return of(undefined);
    return item.synced$.pipe(
      take(1),
      timeout({
        first: SYNC_PATIENCE_MS,
        scheduler,
        with: () => {
          const { problem, namespace, name } = item;
          item.object ??= kept?.get(namespace, name);
          if (!item.object || (problem !== undefined && !isServerAway(problem))) {
            return throwError(() => new Error(`failed to sync ${kind} cache: timed out waiting for the condition`));
          }
          log.warn({ kind, namespace, name }, 'the API server does not answer, using the last known object');
          return of(undefined);
        },
      }),
    );
  };

  return {
    refer: (namespace, name, uid) => {
      const key = storeKey(namespace, name);
      const known = items.get(key);
      if (known) return void known.references.add(uid);
      const item = newItem<T>(namespace, name, uid);
      items.set(key, item);
      start(item);
    },
    release: (namespace, name, uid) => {
      const key = storeKey(namespace, name);
      const item = items.get(key);
      item?.references.delete(uid);
      if (!item || item.references.size > 0) return;
      items.delete(key);
      stop(item, 'idle');
      kept?.drop(namespace, name);
    },
    read: (namespace, name) =>
      defer(() => {
        const item = items.get(storeKey(namespace, name));
        if (!item) return throwError(() => notRegistered(namespace, name));
        item.readAt = scheduler.now();
        if (item.state === 'idle') start(item);
        return synced(item).pipe(map(() => found(item)));
      }),
    changed$,
    run$: defer(() => {
      const before = [...items.values()].filter(({ state }) => state === 'followed');
      const idle$ = timer(0, IDLE_CHECK_MS, scheduler).pipe(tap(stopIdle), ignoreElements());
      // By then every pod of an earlier agent that is still wanted has been added.
      const retain$ = timer(maxIdleMs, scheduler).pipe(
        tap(() => kept?.retain(items.values())),
        ignoreElements(),
      );
      // `start$` first, so that a reference during the subscription to the others is not missed.
      return merge(start$.pipe(mergeMap(followed)), from(before).pipe(mergeMap(followed)), idle$, retain$);
    }),
  };
};

interface Item<T> {
  readonly namespace: string;
  readonly name: string;
  /** The UIDs of the pods that refer to the object. */
  readonly references: Set<string>;
  readonly stop$: Subject<void>;
  readonly synced$: Subject<void>;
  /** `final`: the object is immutable, so it is not watched. */
  state: 'followed' | 'idle' | 'final';
  /** Whether the server has answered since the watch began. */
  isSynced: boolean;
  /** The last known object, of any age. */
  object: T | undefined;
  /** The error of the running watch, until it recovers. */
  problem: unknown;
  /** The time of the last read, by the scheduler. */
  readAt: number;
}

const newItem = <T>(namespace: string, name: string, uid: string): Item<T> => ({
  ...{ namespace, name, references: new Set([uid]), stop$: new Subject(), synced$: new Subject() },
  ...{ state: 'idle', isSynced: false, object: undefined, problem: undefined, readAt: -Infinity },
});

/** An object that was deleted and made again has another UID, and maybe an older version. */
const versionOf = (object: ReferencedObject | undefined): string | undefined =>
  object && `${object.metadata.uid} ${object.metadata.resourceVersion}`;

const isOfObjects = ({ kind }: ReflectorEvent): boolean => kind === 'replaced' || kind === 'put' || kind === 'deleted';

const fold = <T extends ReferencedObject>(item: Item<T>, event: ReflectorEvent<T>): void => {
  switch (event.kind) {
    case 'replaced':
      // An idle object may have been changed or deleted meanwhile.
      item.object = event.objects.find(({ metadata }) => metadata.name === item.name);
      item.problem = undefined;
      item.isSynced = true;
      return;
    case 'put':
      item.object = event.object;
      return;
    case 'deleted':
      item.object = undefined;
      return;
    case 'problem':
      item.problem = event.error;
      return;
    case 'recovered':
      item.problem = undefined;
  }
};
