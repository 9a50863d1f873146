import { OrderedMap } from 'immutable';
import {
  defer,
  filter,
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
import { isServerAway } from '../../model/kube-api/server-away.js';
import {
  isImmutable,
  type ObjectName,
  type ReferencedObject,
  storeKey,
} from '../../model/references/referenced-object.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import {
  foldWatched,
  isSameVersion,
  unreadObjects,
  type WatchedObject,
  watchedObject,
  type WatchedObjects,
  withoutReference,
  withReference,
  withWatched,
} from '../../model/reflector/watched-object.js';
import type { Logger } from '../ports/logger.js';
import type { KeptObjects } from '../references/kept-objects.js';
import { notRegistered, type ObjectStore } from './object-store.js';

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
  let objects: WatchedObjects<T> = OrderedMap();
  const start$ = new Subject<ObjectName>();
  const changed$ = new Subject<ObjectName>();
  const steps = watchSteps();

  const change = (id: ObjectName, fields: Partial<WatchedObject<T>>): void => {
    objects = withWatched(objects, id, fields);
  };
  const start = (id: ObjectName): void => {
    change(id, { state: 'followed', problem: undefined });
    start$.next(id);
  };
  const stop = (id: ObjectName, state: 'idle' | 'final'): void => {
    change(id, { state });
    steps.next(id, 'stop');
  };
  const received = (id: ObjectName, event: ReflectorEvent<T>): void => {
    const before = watchedObject(objects, id);
    if (!before) return;
    const after = foldWatched(before, event);
    change(id, after);
    // Kept at once, in case the agent is killed.
    if (isOfObjects(event)) remember(after);
    if (event.kind === 'replaced') steps.next(id, 'synced');
    if (!isSameVersion(before.object, after.object)) changed$.next(id);
  };
  const remember = ({ id: { namespace, name }, object }: WatchedObject<T>): void => {
    if (object) kept?.keep(namespace, name, object);
    else kept?.drop(namespace, name);
  };
  const followed = (id: ObjectName): Observable<never> =>
    defer(() => follow(id.namespace, id.name)).pipe(
      tap((event) => received(id, event)),
      finalize(() => change(id, { isSynced: false })),
      ignoreElements(),
      takeUntil(steps.of(id, 'stop')),
    );
  const stopIdle = (): void => {
    for (const { id } of unreadObjects(objects, scheduler.now(), maxIdleMs)) stop(id, 'idle');
  };

  const found = ({ id, object, state, isSynced }: WatchedObject<T>): T => {
    if (!object) throw new ApiError({ code: 404, reason: 'NotFound', message: `${kind} "${id.name}" not found` });
    if (state === 'followed' && isSynced && isImmutable(object)) stop(id, 'final');
    return object;
  };
  /** Emits the object once the server has listed it, or is found to be away. Errors: neither is so in time. */
  const synced = (newest: () => WatchedObject<T>): Observable<WatchedObject<T>> => {
    const { id, isSynced, state } = newest();
    if (isSynced || state === 'final') return of(newest());
    return steps.of(id, 'synced').pipe(
      take(1),
      map(newest),
      timeout({
        first: SYNC_PATIENCE_MS,
        scheduler,
        with: () => {
          const { problem, object = kept?.get(id.namespace, id.name) } = newest();
          change(id, { object });
          if (!object || (problem !== undefined && !isServerAway(problem))) {
            return throwError(() => new Error(`failed to sync ${kind} cache: timed out waiting for the condition`));
          }
          log.warn({ kind, ...id }, 'the API server does not answer, using the last known object');
          return of({ ...newest(), object });
        },
      }),
    );
  };

  return {
    refer: (namespace, name, uid) => {
      const id = { namespace, name };
      objects = withReference(objects, id, uid);
      // The identity of an object that was known is an earlier one.
      if (watchedObject(objects, id)) start(id);
    },
    release: (namespace, name, uid) => {
      const before = objects.get(storeKey(namespace, name));
      objects = withoutReference(objects, { namespace, name }, uid);
      if (!before || watchedObject(objects, before.id)) return;
      stop(before.id, 'idle');
      kept?.drop(namespace, name);
    },
    read: (namespace, name) =>
      defer(() => {
        const first = objects.get(storeKey(namespace, name));
        if (!first) return throwError(() => notRegistered(namespace, name));
        change(first.id, { readAt: scheduler.now() });
        if (first.state === 'idle') start(first.id);
        // An object that loses its last reference during the read stays as it was.
        return synced(() => watchedObject(objects, first.id) ?? first).pipe(map(found));
      }),
    changed$: changed$.asObservable(),
    run$: defer(() => {
      const before = [...objects.values()].filter(({ state }) => state === 'followed');
      const idle$ = timer(0, IDLE_CHECK_MS, scheduler).pipe(tap(stopIdle), ignoreElements());
      // By then every pod of an earlier agent that is still wanted has been added.
      const retain$ = timer(maxIdleMs, scheduler).pipe(
        tap(() => kept?.retain([...objects.values()].map(({ id }) => id))),
        ignoreElements(),
      );
      // `start$` first, so that a reference during the subscription to the others is not missed.
      return merge(
        start$.pipe(mergeMap(followed)),
        from(before).pipe(mergeMap(({ id }) => followed(id))),
        idle$,
        retain$,
      );
    }),
  };
};

/** A step of the watch of one object. `synced`: the server has listed it. */
type WatchStep = 'stop' | 'synced';

/** The steps of all watches. Each reaches the subscribers of its object alone, so that its cost does not grow with the number of objects. */
const watchSteps = () => {
  const step$ById = new Map<ObjectName, Subject<WatchStep>>();
  return {
    next: (id: ObjectName, step: WatchStep): void => step$ById.get(id)?.next(step),
    of: (id: ObjectName, wanted: WatchStep): Observable<WatchStep> =>
      defer(() => {
        const step$ = step$ById.get(id) ?? new Subject<WatchStep>();
        step$ById.set(id, step$);
        return step$.pipe(finalize(() => !step$.observed && step$ById.delete(id)));
      }).pipe(filter((step) => step === wanted)),
  };
};

const isOfObjects = ({ kind }: ReflectorEvent): boolean => kind === 'replaced' || kind === 'put' || kind === 'deleted';
