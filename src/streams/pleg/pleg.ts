import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  finalize,
  first,
  from,
  ignoreElements,
  interval,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  tap,
} from 'rxjs';
import { GENERIC_PLEG, type PlegCadence, type PlegEvent, preserveIps } from '../../model/pleg/pleg.js';
import { type FoldedPod, isEmptyStatus } from '../../model/pleg/pod-record.js';
import { PodRecords } from '../../model/pleg/pod-records.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { exhaustMapLatestBy } from '../operators/exhaust-map-latest.js';
import { inSlots } from '../operators/in-slots.js';
import type { Polled } from '../operators/poll.js';
import { tapIfSlow } from '../operators/tap-if-slow.js';
import type { PlegObservation } from './pleg-observation.js';
import type { PodCache } from './pod-cache.js';
import { relistAtCadence } from './relist-cadence.js';
import type { RuntimeReader } from './runtime-reader.js';

/** A worker waits for a view of the pod that is newer than `newerThan`, in the scheduler's milliseconds. */
export interface ViewRequest {
  readonly uid: string;
  readonly newerThan: number;
}

export interface PlegOptions {
  readonly reader: Pick<RuntimeReader, 'listPods' | 'podStatus'>;
  readonly cache: PodCache;
  /** UIDs of the pods that the runtime's events name. */
  readonly hint$?: Observable<string>;
  /** UIDs of pods that the agent changed. A request is dropped if a relist began after it. */
  readonly relistRequest$?: Observable<string>;
  /** Requests for newer views. A request is dropped if the read in flight began after its `newerThan`. */
  readonly viewRequest$?: Observable<ViewRequest>;
  /** The time between relists, from now on; each value causes a relist at once. `GENERIC_PLEG` unless given. */
  readonly cadence$?: Observable<PlegCadence>;
  readonly observe?: (observation: PlegObservation) => void;
  readonly scheduler?: SchedulerLike;
}

/** The number of pods read side by side: a thousand reads at once would slow down the runtime. */
const READS_AT_ONCE = 10;
/** A longer read continues, but releases its slot to another pod. Milliseconds. */
export const READ_SLOT_MS = 1_000;

/** A read in flight for this time is reported. Milliseconds. */
export const LATE_READ_MS = 10_000;

/**
 * Emits the events of the containers of the node, and keeps `cache` up to date; the cache holds a status before its event is
 * emitted. Relists as `cadence$` says, and reads each pod that a listing shows changed, or that a hint or a request names.
 * `PodRecords` decides which step a pod needs and derives the events; this file has the time and the order.
 *
 * Each pod has one read in flight and at most one waiting, so a read that hangs delays that pod only. Ten pods are read at a
 * time, not counting reads in flight for a second. A pod with a due read is held in the cache: relists do not count for it.
 *
 * Errors: those of the streams in its options. A failed listing or read is observed and retried.
 * Ends:   never. Unsubscribing cancels the calls in flight and releases all pods in the cache.
 * Source: pkg/kubelet/pleg/generic.go, with three differences. Events come from the status that was read, not from the listing
 * that caused the read. Pods are read side by side. A read that finds nothing proves a removal.
 */
export const pleg = ({
  reader,
  cache,
  hint$ = NEVER,
  relistRequest$ = NEVER,
  viewRequest$ = NEVER,
  cadence$ = concat(of(GENERIC_PLEG), NEVER),
  observe = () => undefined,
  scheduler = asyncScheduler,
}: PlegOptions): Observable<PlegEvent> =>
  defer(() => {
    const records = new PodRecords();
    const inReadSlot = inSlots({ count: READS_AT_ONCE, longestMs: READ_SLOT_MS, scheduler });
    /** Lists all pods once; emits the UIDs of the pods with due work. */
    const relistOnce$ = defer(() => {
      const at = scheduler.now();
      const last = records.lastRelistAt;
      const ended = () => ({
        ...{ kind: 'relist' as const, at, durationMs: scheduler.now() - at },
        ...(last !== undefined && { intervalMs: at - last }),
      });
      return attempt(() => reader.listPods('all')).pipe(
        mergeMap((listing) => {
          if (listing.kind === 'failed') {
            records.relistFailed();
            observe({ ...ended(), error: listing.error });
            return EMPTY;
          }
          const due = records.relisted(listing.value, at);
          for (const uid of due) cache.hold(uid);
          cache.updateTime(at);
          observe({ ...ended(), pods: listing.value });
          return from(due);
        }),
      );
    });
    const relist$ = relistAtCadence(relistOnce$, { cadence$, isBehind: () => records.isBehind, scheduler });
    /** While the runtime sends events, a pod without events is unchanged; pods with due work are held in the cache. */
    const tick$ = cadence$.pipe(
      switchMap(({ cacheTickMs }) => (cacheTickMs === undefined ? NEVER : interval(cacheTickMs, scheduler))),
      filter(() => !records.isRelistFailed),
      tap(() => cache.updateTime(scheduler.now())),
      ignoreElements(),
    );
    const hinted$ = hint$.pipe(
      tap((uid) => records.hint(uid)),
      tap(cache.hold),
    );
    const viewed$ = viewRequest$.pipe(
      filter(({ uid, newerThan }) => !records.isReadAfter(uid, newerThan)),
      map(({ uid }) => uid),
    );
    const requested$ = merge(relistRequest$, viewed$).pipe(
      tap((uid) => records.request(uid, scheduler.now())),
      tap(cache.hold),
    );

    const readPod = (uid: string): Observable<PlegEvent> => {
      const at = scheduler.now();
      const { ref, ran } = records.readBegins(uid, at);
      return attempt(() => reader.podStatus(ref, ran)).pipe(
        tapIfSlow(LATE_READ_MS, () => observe({ kind: 'pod-read-late', uid, at }), scheduler),
        mergeMap((read) => {
          const ended = { kind: 'pod-read' as const, uid, at, durationMs: scheduler.now() - at };
          if (read.kind === 'failed') {
            records.readFailed(uid);
            observe({ ...ended, error: read.error });
            cache.set(uid, { kind: 'error', error: read.error }, at);
            return endStep(uid);
          }
          observe(ended);
          return endStep(uid, takeStatus(uid, read.value, at));
        }),
      );
    };
    const takeStatus = (uid: string, read: RuntimePodStatus, at: number): readonly PlegEvent[] => {
      const cached = cache.get(uid);
      const status = preserveIps(read, cached.kind === 'status' ? cached.status : undefined);
      const events = observed(records.readEnded(uid, status));
      if (isEmptyStatus(status)) {
        cache.delete(uid);
        cache.setObservedTime(uid, at);
      } else cache.set(uid, { kind: 'status', status }, at);
      return events;
    };
    const observed = ({ events, hasChanged }: FoldedPod): readonly PlegEvent[] => {
      if (hasChanged) observe({ kind: 'changed', ...records.countRunning() });
      return events;
    };
    const endStep = (uid: string, events: readonly PlegEvent[] = []): Observable<PlegEvent> => {
      if (records.stepEnded(uid)) cache.release(uid);
      return from(events);
    };
    const step = (uid: string): Observable<PlegEvent> => {
      switch (records.takeStep(uid)) {
        case 'read':
          return defer(() => readPod(uid)).pipe(inReadSlot());
        case 'remove':
          cache.delete(uid);
          return endStep(uid, observed(records.removed(uid)));
        case 'none':
          return endStep(uid);
        case undefined:
          return EMPTY;
      }
    };

    // Hints are subscribed first, so that no event during the first listing is lost.
    return merge(hinted$, requested$, relist$, tick$).pipe(
      exhaustMapLatestBy((uid) => uid, step),
      finalize(() => {
        for (const uid of records.uids) cache.release(uid);
      }),
    );
  });

/** Emits the one value of a call, or its error as a value. */
const attempt = <T>(call: () => Observable<T>): Observable<Polled<T>> =>
  defer(call).pipe(
    first(),
    map((value) => ({ kind: 'ok' as const, value })),
    catchError((error: unknown) => of({ kind: 'failed' as const, error })),
  );
