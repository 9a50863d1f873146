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
import { ApiError } from '../../model/api/api-error.js';
import { isImmutable, type ReferencedObject } from '../../model/api/referenced-object.js';
import type { ReflectorEvent } from '../../model/api/reflector-event.js';
import { isServerAway } from '../../model/api/server-away.js';
import type { Logger } from '../ports.js';
import type { KeptObjects } from './kept-objects.js';
import { notRegistered, type ObjectStore, storeKey } from './object-store.js';

/** Who reads waits so long for the first answer of the server. */
export const SYNC_PATIENCE_MS = 1_000;
/** How often it is looked for objects that nobody reads. */
export const IDLE_CHECK_MS = 60_000;
export const MIN_IDLE_MS = 60_000;
/** An object that volumes read on every look at their pod is not idle. */
const IDLE_LOOKS = 5;

export interface WatchedObjectsOptions<T extends ReferencedObject> {
  /** As messages have it: `configmap`. */
  readonly kind: string;
  /** Follows one object. It never errors and never ends. */
  readonly follow: (namespace: string, name: string) => Observable<ReflectorEvent<T>>;
  /** Milliseconds between two looks at a pod with which all is well. */
  readonly syncFrequencyMs: number;
  /** What an earlier agent knew, and a later one is to know; nothing unless given. */
  readonly kept?: KeptObjects<T> | undefined;
  readonly scheduler: SchedulerLike;
  readonly log: Logger;
}

/**
 * Objects that are each followed from the first reference to the last. One that nobody reads is not followed meanwhile, and one that
 * cannot change any more is not either; the read of one that is not followed begins anew, and waits a while for the server. While the
 * server is away, what was seen last is given instead, if need be by an earlier agent.
 *
 * Source: pkg/kubelet/util/manager/watch_based_manager.go, which gives nothing of what was idle while the server is away
 */
export const watchedObjects = <T extends ReferencedObject>({
  kind,
  follow,
  syncFrequencyMs,
  kept,
  scheduler,
  log,
}: WatchedObjectsOptions<T>): ObjectStore<T> => {
  const maxIdleMs = Math.max(IDLE_LOOKS * syncFrequencyMs, MIN_IDLE_MS);
  const items = new Map<string, Item<T>>();
  const start$ = new Subject<Item<T>>();

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
        hear(item, event);
        // What is known now is what it was last, should the agent not live to hear more.
        if (isOfObjects(event)) remember(item);
        if (event.kind === 'replaced') item.synced$.next();
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
      // What still waits for its first answer has cost the server something already.
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
          log.warn({ kind, namespace, name }, 'the API server does not answer: an object is taken as it was last seen');
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
    run$: defer(() => {
      const before = [...items.values()].filter(({ state }) => state === 'followed');
      const idle$ = timer(0, IDLE_CHECK_MS, scheduler).pipe(tap(stopIdle), ignoreElements());
      // Every pod that an earlier agent knew has come by then, if it was to come.
      const retain$ = timer(maxIdleMs, scheduler).pipe(
        tap(() => kept?.retain(items.values())),
        ignoreElements(),
      );
      // Whatever is referred to while those of before are taken up must not be missed.
      return merge(start$.pipe(mergeMap(followed)), from(before).pipe(mergeMap(followed)), idle$, retain$);
    }),
  };
};

interface Item<T> {
  readonly namespace: string;
  readonly name: string;
  /** UIDs of pods. */
  readonly references: Set<string>;
  readonly stop$: Subject<void>;
  readonly synced$: Subject<void>;
  /** `final`: it cannot change any more, so it is not followed. */
  state: 'followed' | 'idle' | 'final';
  /** The server has said what there is, since it is followed. */
  isSynced: boolean;
  /** As it was last seen, however long ago. */
  object: T | undefined;
  /** What the server is asked in vain for, since it was asked. */
  problem: unknown;
  /** Of the scheduler. */
  readAt: number;
}

const newItem = <T>(namespace: string, name: string, uid: string): Item<T> => ({
  ...{ namespace, name, references: new Set([uid]), stop$: new Subject(), synced$: new Subject() },
  ...{ state: 'idle', isSynced: false, object: undefined, problem: undefined, readAt: -Infinity },
});

const isOfObjects = ({ kind }: ReflectorEvent): boolean => kind === 'replaced' || kind === 'put' || kind === 'deleted';

const hear = <T extends ReferencedObject>(item: Item<T>, event: ReflectorEvent<T>): void => {
  switch (event.kind) {
    case 'replaced':
      // One that has been idle may have changed meanwhile, or be gone.
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
