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
  repeat,
  type SchedulerLike,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import {
  countRunning,
  GENERIC_PLEG,
  NO_ITEMS,
  type PlegCadence,
  plegChanges,
  type PlegChange,
  type PlegEvent,
  plegEvents,
  type PlegRecord,
  preserveIps,
  recordOf,
  showsNoChange,
} from '../model/pleg.js';
import type { PodRef } from '../model/pod.js';
import type { RuntimeItem, RuntimePod, RuntimePodStatus } from '../model/runtime-pod.js';
import { conflateByKey } from './operators/conflate-by-key.js';
import { inSlots } from './operators/in-slots.js';
import { tapLate } from './operators/tap-late.js';
import type { PodCache, PodReading } from './pod-cache.js';
import type { RuntimeReader } from './runtime-reader.js';

/** What a relist or the read of one pod was like; for gauges, histograms and health. Times and durations in milliseconds. */
export type PlegObservation =
  | {
      readonly kind: 'relist';
      /** When the runtime was asked. The newest of those with `pods` is what `plegHealth` wants to know. */
      readonly at: number;
      readonly durationMs: number;
      /** Since the last successful relist was asked for; absent on the first. */
      readonly intervalMs?: number;
      /** Absent when the listing failed. */
      readonly pods?: readonly RuntimePod[];
      readonly error?: unknown;
    }
  /** A read is under way and has been for `LATE_READ_MS`. */
  | { readonly kind: 'pod-read-late'; readonly uid: string; readonly at: number }
  /** What runs, after a read has shown a change. */
  | ({ readonly kind: 'changed' } & ReturnType<typeof countRunning>)
  | {
      readonly kind: 'pod-read';
      readonly uid: string;
      readonly at: number;
      readonly durationMs: number;
      readonly error?: unknown;
    };

/** Somebody wants to know the pod as it was later than `newerThan`, in the scheduler's milliseconds. */
export interface ViewRequest {
  readonly uid: string;
  readonly newerThan: number;
}

export interface PlegOptions {
  readonly reader: Pick<RuntimeReader, 'listPods' | 'podStatus'>;
  readonly cache: PodCache;
  /** Uids of pods of which the runtime says that something happened. */
  readonly hint$?: Observable<string>;
  /** Uids of pods that the agent itself changed. One that a full relist overtakes is dropped. */
  readonly relistRequest$?: Observable<string>;
  /** Pods of which somebody waits for a newer view. One that a read in flight answers, since it was asked for later, is dropped. */
  readonly viewRequest$?: Observable<ViewRequest>;
  /** How often to list, from now on; each value lists at once. `GENERIC_PLEG` unless given. */
  readonly cadence$?: Observable<PlegCadence>;
  readonly observe?: (observation: PlegObservation) => void;
  readonly scheduler?: SchedulerLike;
}

/** How many pods are read side by side: a thousand reads at once would slow down everything that the runtime does. */
const READS_AT_ONCE = 10;
/** A read that takes longer leaves its place to another pod, and goes on. Milliseconds. */
const READ_SLOT_MS = 1_000;

/** A read that takes this long is told of while it is still under way. Milliseconds. */
export const LATE_READ_MS = 10_000;

/** What is known of one pod, and what is to be done about it. */
interface PodRecord {
  ref: PodRef;
  known: PlegRecord;
  /** When the runtime was asked for `known`. */
  knownAt: number;
  /** When the read in flight asked the runtime. */
  readingSince: number | undefined;
  /** The last read failed: read again even if the listing shows no change, and tell with a `PodSync`. */
  reinspect: boolean;
  /** The last listing that showed the pod. */
  generation: number;
  /** What the next run has to look at. */
  todo: Todo | undefined;
}
interface Todo {
  /** A listing that shows the pod otherwise than known; no items when the pod is gone. */
  readonly listed?: { readonly items: readonly RuntimeItem[]; readonly at: number };
  readonly isHinted?: true;
  readonly requestedAt?: number;
}

/**
 * Emits what happens to the containers of the node, and keeps `cache` up to date: relists at once and then a period after
 * each listing ended, or a second after it as long as the last look at something failed; reads every pod that a listing shows changed or that a hint or a request names, and compares what was
 * read with what was known. When an event comes out, the cache has the status that it is about.
 *
 * Every pod is read on its own, one read in flight and at most one waiting, so a read that hangs holds up that pod alone: the
 * global time of the cache moves on with every relist and says nothing about a pod whose read is due or in flight. Ten pods
 * are read at a time, not counting reads that have been under way for a second.
 *
 * Errors: those of `hint$` and `relistRequest$`; a failed listing or read is observed, and tried again on the next relist.
 * Ends:   never. Unsubscribing cancels what is in flight and leaves no pod held in the cache.
 * Source: pkg/kubelet/pleg/generic.go, but for three things. Events are derived from the status that was read instead of the
 * listing that caused the read, so a listing that is older than a read cannot tell of the past. Pods are read side by side.
 * A read that finds nothing is as good a proof of removal as a listing.
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
    const records = new Map<string, PodRecord>();
    const inReadSlot = inSlots({ count: READS_AT_ONCE, longestMs: READ_SLOT_MS, scheduler });
    let lastRelistAt = -Infinity;
    let hasFailed = false;
    let generation = 0;

    const recordFor = ({ uid, namespace, name }: PodRef): PodRecord => {
      const existing = records.get(uid);
      if (existing) return existing;
      const record: PodRecord = {
        ref: { uid, namespace, name },
        known: NO_ITEMS,
        knownAt: -Infinity,
        readingSince: undefined,
        reinspect: false,
        generation: 0,
        todo: undefined,
      };
      records.set(uid, record);
      return record;
    };

    /** From here to the end of the pod's last run, the global time of the cache does not speak for it. */
    const addTodo = (record: PodRecord, todo: Todo): void => {
      record.todo = { ...record.todo, ...todo };
      cache.hold(record.ref.uid);
    };

    /** Notes what a listing changes; the uids of the pods to attend to. */
    const digest = (pods: readonly RuntimePod[], at: number): readonly string[] => {
      const due: string[] = [];
      const look = (record: PodRecord, items: readonly RuntimeItem[]): void => {
        const isSettled = record.readingSince === undefined && !record.reinspect;
        if (isSettled && showsNoChange(record.known, items)) return;
        addTodo(record, { listed: { items, at } });
        due.push(record.ref.uid);
      };
      generation += 1;
      for (const pod of pods) {
        const record = recordFor(pod);
        record.generation = generation;
        // What was asked for later than this listing knows better.
        if ((record.readingSince ?? record.knownAt) <= at) look(record, pod.items);
      }
      for (const record of records.values()) {
        const isGone = record.generation !== generation;
        if (isGone && (record.readingSince ?? record.knownAt) < at) look(record, []);
      }
      cache.updateTime(at);
      return due;
    };

    const relistOnce$ = defer(() => {
      const at = scheduler.now();
      const interval = lastRelistAt === -Infinity ? {} : { intervalMs: at - lastRelistAt };
      const ended = () => ({ kind: 'relist' as const, at, durationMs: scheduler.now() - at, ...interval });
      return attempt(() => reader.listPods('all')).pipe(
        mergeMap((listing) => {
          hasFailed = listing.kind === 'failed';
          if (listing.kind === 'failed') {
            observe({ ...ended(), error: listing.error });
            return EMPTY;
          }
          lastRelistAt = at;
          const due = digest(listing.value, at);
          observe({ ...ended(), pods: listing.value });
          return from(due);
        }),
      );
    });

    /** Asked every second, so it allocates nothing. */
    const isBehind = (): boolean => {
      if (hasFailed) return true;
      for (const { reinspect } of records.values()) if (reinspect) return true;
      return false;
    };
    const untilNext = ({ periodMs }: PlegCadence): Observable<unknown> => {
      const retryMs = GENERIC_PLEG.periodMs;
      if (periodMs <= retryMs) return timer(periodMs, scheduler);
      return merge(timer(periodMs, scheduler), timer(retryMs, retryMs, scheduler).pipe(filter(isBehind))).pipe(take(1));
    };
    // A listing in flight is given up for the one that a new cadence asks for: it changes nothing, and knows less.
    const relist$ = cadence$.pipe(
      switchMap((cadence) => relistOnce$.pipe(repeat({ delay: () => untilNext(cadence) }))),
    );
    /** As long as events come, silence means that nothing has happened; of what has, `hold` tells the cache. */
    const tick$ = cadence$.pipe(
      switchMap(({ cacheTickMs }) => (cacheTickMs === undefined ? NEVER : interval(cacheTickMs, scheduler))),
      filter(() => !hasFailed),
      tap(() => cache.updateTime(scheduler.now())),
      ignoreElements(),
    );

    /** Takes over what a read says; what the loop hears of it. */
    const accept = (record: PodRecord, read: RuntimePodStatus, askedAt: number): readonly PlegEvent[] => {
      const { uid } = record.ref;
      if (read.sandboxes.length === 0 && read.containers.length === 0) {
        const events = remove(record, askedAt);
        cache.setObservedTime(uid, askedAt);
        return events;
      }
      if (record.ref.name === '') record.ref = { uid, namespace: read.namespace, name: read.name };
      const status = preserveIps(read, statusOf(cache.get(uid)));
      const events = commit(record, recordOf(status), askedAt, status);
      cache.set(uid, { kind: 'status', status }, askedAt);
      return events;
    };

    const remove = (record: PodRecord, at: number): readonly PlegEvent[] => {
      cache.delete(record.ref.uid);
      return commit(record, NO_ITEMS, at);
    };

    const commit = (
      record: PodRecord,
      now: PlegRecord,
      at: number,
      status?: RuntimePodStatus,
    ): readonly PlegEvent[] => {
      const changes: readonly PlegChange[] = plegChanges(record.known, now);
      const isPodSync = record.reinspect && changes.length === 0;
      record.known = now;
      record.knownAt = at;
      record.reinspect = false;
      if (changes.length > 0) observe({ kind: 'changed', ...countRunning(itemsOf(records)) });
      return isPodSync ? [{ pod: record.ref, type: 'PodSync', id: '' }] : plegEvents(record.ref, changes, status);
    };

    /** Ends a run: unless another one is due, the pod is like any other again. */
    const settle = (record: PodRecord, events: readonly PlegEvent[] = []): Observable<PlegEvent> => {
      const { uid } = record.ref;
      if (!record.todo) {
        cache.release(uid);
        if (record.known.size === 0 && !record.reinspect) records.delete(uid);
      }
      return from(events);
    };

    const readPod = (record: PodRecord): Observable<PlegEvent> => {
      const { uid } = record.ref;
      const at = scheduler.now();
      // Whatever was to be looked at until now, this read answers.
      record.todo = undefined;
      record.readingSince = at;
      return attempt(() => reader.podStatus(record.ref, ranIn(record.known))).pipe(
        tapLate(LATE_READ_MS, () => observe({ kind: 'pod-read-late', uid, at }), scheduler),
        mergeMap((read) => {
          record.readingSince = undefined;
          const ended = { kind: 'pod-read' as const, uid, at, durationMs: scheduler.now() - at };
          if (read.kind === 'ok') {
            observe(ended);
            return settle(record, accept(record, read.value, at));
          }
          observe({ ...ended, error: read.error });
          record.reinspect = true;
          cache.set(uid, { kind: 'error', error: read.error }, at);
          return settle(record);
        }),
      );
    };

    const attend = (uid: string): Observable<PlegEvent> => {
      const record = records.get(uid);
      if (!record) return EMPTY;
      const { listed, isHinted, requestedAt } = record.todo ?? {};
      // In whole milliseconds, a request as old as the relist may still be younger than its answer.
      const isRequested = requestedAt !== undefined && requestedAt >= lastRelistAt;
      const isChanged = listed && (record.reinspect || !showsNoChange(record.known, listed.items));
      // That something which ran is gone is not believed of a listing alone.
      if (isHinted || isRequested || (isChanged && (listed.items.length > 0 || ranIn(record.known).length > 0))) {
        return defer(() => readPod(record)).pipe(inReadSlot());
      }
      record.todo = undefined;
      return listed?.items.length === 0 ? settle(record, remove(record, listed.at)) : settle(record);
    };

    const unnamed = (uid: string): PodRecord => recordFor({ uid, namespace: '', name: '' });
    const hinted$ = hint$.pipe(tap((uid) => addTodo(unnamed(uid), { isHinted: true })));
    const isAnswered = ({ uid, newerThan }: ViewRequest): boolean =>
      (records.get(uid)?.readingSince ?? -Infinity) > newerThan;
    const viewed$ = viewRequest$.pipe(
      filter((request) => !isAnswered(request)),
      map(({ uid }) => uid),
    );
    const requested$ = merge(relistRequest$, viewed$).pipe(
      tap((uid) => addTodo(unnamed(uid), { requestedAt: scheduler.now() })),
    );

    // Hints first: what happens during the first listing must not go unheard.
    return merge(hinted$, requested$, relist$, tick$).pipe(
      conflateByKey((uid) => uid, attend),
      finalize(() => {
        for (const uid of records.keys()) cache.release(uid);
      }),
    );
  });

const itemsOf = function* (records: ReadonlyMap<string, PodRecord>) {
  for (const { known } of records.values()) yield { items: known.values() };
};

const ranIn = (record: PlegRecord): readonly RuntimeItem[] =>
  [...record.values()].filter(({ state }) => state === 'running');

type Attempt<T> = { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'failed'; readonly error: unknown };

/** The one value of a call, or why there is none. */
const attempt = <T>(call: () => Observable<T>): Observable<Attempt<T>> =>
  defer(call).pipe(
    first(),
    map((value) => ({ kind: 'ok' as const, value })),
    catchError((error: unknown) => of({ kind: 'failed' as const, error })),
  );

const statusOf = (reading: PodReading): RuntimePodStatus | undefined =>
  reading.kind === 'status' ? reading.status : undefined;
