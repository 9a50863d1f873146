import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  endWith,
  filter,
  groupBy,
  ignoreElements,
  last,
  map,
  merge,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  observeOn,
  of,
  type OperatorFunction,
  repeat,
  type SchedulerLike,
  share,
  Subject,
  tap,
} from 'rxjs';
import { errorText } from '../model/cri-error.js';
import type { JournalId, NextStep } from '../model/journal.js';
import { type Pod, podRef } from '../model/pod.js';
import type {
  Completion,
  Delivery,
  PodWorkerRegistry,
  Run,
  RunResult,
  Start,
} from '../model/pod-workers/pod-worker-registry.js';
import { refOf, type WorkType } from '../model/pod-workers/pod-worker-record.js';
import { jittered, requeueDelayMs, STATIC_START_RETRY_MS } from '../model/pod-workers/requeue-delay.js';
import type { RuntimePod, RuntimePodStatus } from '../model/runtime-pod.js';
import { exhaustMapLatest } from './operators/exhaust-map-latest.js';
import { watchedRead } from './pod-sync/pod-sync-context.js';
import type { Random, RecordEvent, RecordJournal, WallClock } from './ports.js';

/** One run of a worker over a pod of which a configuration is known. */
export type PodRun = Run & { readonly pod: Pod; readonly status: RuntimePodStatus };
/** One run over a pod of which only the runtime knows. */
export type RuntimePodRun = Run & { readonly runningPod: RuntimePod };

/**
 * The work itself, as cold Observables. They error to be tried again later. On `signal` a run lets go as soon as it
 * safely can and errors with `SyncCancelled`; terminating work is never asked to.
 */
export interface PodWork {
  /**
   * Moves the pod towards its spec; `isTerminal` says that it has nothing left to do, `isUnfinished` that it wants another run
   * at once.
   */
  readonly syncPod: (
    run: PodRun,
    signal: AbortSignal,
  ) => Observable<{ readonly isTerminal: boolean; readonly isUnfinished?: boolean }>;
  /** Stops every container; completes when they have stopped. */
  readonly syncTerminatingPod: (run: PodRun) => Observable<unknown>;
  readonly syncTerminatingRuntimePod: (run: RuntimePodRun) => Observable<unknown>;
  /** Cleans up what a stopped pod leaves on the node. */
  readonly syncTerminatedPod: (run: PodRun, signal: AbortSignal) => Observable<unknown>;
}

export interface PodWorkerOptions {
  readonly registry: PodWorkerRegistry;
  readonly work: PodWork;
  /** The pod as the runtime showed it later than `timeMs`, once. Errors when it could not be read. */
  readonly newerThan: (uid: string, timeMs: number) => Observable<RuntimePodStatus>;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  readonly random: Random;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
  /** Milliseconds between two looks at a pod with which all is well, before jitter. */
  readonly resyncIntervalMs: number;
}

/** How a run ended and when its pod is due again. */
export interface WorkerOutcome {
  readonly uid: string;
  readonly work: WorkType | 'waiting';
  readonly run?: Run;
  readonly error?: unknown;
  readonly next: Completion['next'] | 'wait-for-turn';
  /** The scheduler's milliseconds; undefined when nothing is to be done on the pod's own account. */
  readonly dueAt?: number;
  /** How long the run took, milliseconds. */
  readonly durationMs: number;
  readonly journalId: JournalId;
}

/**
 * One serial worker per pod, side by side: emits an outcome per run. A wake during a run is answered by another run once
 * this one has settled; a wake with `cancel` fires the signal of the run in flight. `forget` closes the worker.
 *
 * Errors: none; those of the work become outcomes.
 * Ends:   with the source, after the runs in flight; what these set free for other pods is not delivered any more.
 * Source: podWorkerLoop in pkg/kubelet/pod_workers.go
 */
export const podWorkers =
  (options: PodWorkerOptions): OperatorFunction<Delivery, WorkerOutcome> =>
  (delivery$) =>
    defer(() => {
      // What a run sets free for others (a full name, a finished worker) comes round as one more delivery, a hop later,
      // so that no group is entered or closed from within its own emission.
      const released$ = new Subject<Delivery>();
      const source$ = delivery$.pipe(tap({ complete: () => released$.complete() }));
      const all$ = merge(source$, released$.pipe(observeOn(options.scheduler))).pipe(
        tap((delivery) => noteForgotten(delivery, options)),
        share(),
      );
      // The record has the last word: a pod that came back within the hop keeps its worker, or it would have two; one that
      // went meanwhile gets none, or nobody would ever close it.
      const isKnown = (uid: string) => options.registry.record(uid) !== undefined;
      const forgotten$ = all$.pipe(filter(({ kind, uid }) => kind === 'forget' && !isKnown(uid)));
      return all$.pipe(
        filter((delivery) => delivery.kind === 'wake'),
        filter(({ uid }) => isKnown(uid)),
        groupBy(({ uid }) => uid, {
          duration: ({ key }) => forgotten$.pipe(filter(({ uid }) => uid === key)),
        }),
        mergeMap((wake$) =>
          wake$.pipe(
            exhaustMapLatest(
              ({ uid }, signal) => runsUntilRest(uid, signal, options, (delivery) => released$.next(delivery)),
              ({ cancel }) => cancel,
            ),
          ),
        ),
      );
    });

const noteForgotten = (delivery: Delivery, { registry, record }: PodWorkerOptions): void => {
  if (delivery.kind !== 'forget' || registry.record(delivery.uid) !== undefined) return;
  record({ kind: 'forgotten', pod: delivery.pod, causes: [] });
};

/** Runs until nothing waits, or until the signal fires: then the wake that fired it starts the next run. */
const runsUntilRest = (
  uid: string,
  signal: AbortSignal,
  options: PodWorkerOptions,
  release: (delivery: Delivery) => void,
): Observable<WorkerOutcome> =>
  defer(() => {
    let goesOn = false;
    return defer(() => {
      goesOn = false;
      return oneRun(uid, signal, options, release);
    }).pipe(
      tap(({ next }) => (goesOn = (next === 'again' || next === 'advance') && !signal.aborted)),
      repeat({ delay: () => (goesOn ? of(true) : EMPTY) }),
    );
  });

const oneRun = (
  uid: string,
  signal: AbortSignal,
  options: PodWorkerOptions,
  release: (delivery: Delivery) => void,
): Observable<WorkerOutcome> => {
  const start = options.registry.start(uid, options.scheduler.now());
  switch (start.kind) {
    case 'idle':
      return EMPTY;
    case 'not-yet':
      return of(waitForTurn(uid, start, options));
    case 'never':
      start.deliveries.forEach(release);
      return of(endBeforeStart(uid, start, options));
    case 'run':
      return settle(start.run, signal, options, release);
  }
};

/** One run and what follows from it. The run cannot fail: an error is an outcome. */
const settle = (
  run: Run,
  signal: AbortSignal,
  options: PodWorkerOptions,
  release: (delivery: Delivery) => void,
): Observable<WorkerOutcome> => {
  const { registry, scheduler, wallClock, record } = options;
  const { uid, work } = run;
  const startedAt = scheduler.now();
  const pod = run.pod ? podRef(run.pod) : refOf({ uid, active: run });
  const startId = record({
    kind: 'sync-started',
    work,
    trigger: run.type,
    graceSeconds: run.graceSeconds,
    pod,
    causes: run.causes,
  });
  return defer(() => attempt({ ...run, causes: [startId] }, signal, options)).pipe(
    catchError((error: unknown) => of<RunResult>({ error })),
    map((result): WorkerOutcome => {
      const now = scheduler.now();
      const error = 'error' in result ? result.error : undefined;
      const { next, deliveries } = registry.complete(uid, work, result, now);
      deliveries.forEach(release);
      const rests = next === 'rest' || next === 'again';
      const delayMs = rests ? requeueDelayMs(error, { ...options, now: wallClock() }) : undefined;
      const journalId = record({
        kind: 'sync-ended',
        work,
        error: error === undefined ? undefined : errorText(error),
        next: nextStep(next, delayMs === undefined ? undefined : wallClock() + delayMs, error),
        pod,
        causes: [startId],
      });
      const dueAt = delayMs === undefined ? undefined : now + delayMs;
      return { uid, work, run, error, next, dueAt, durationMs: now - startedAt, journalId };
    }),
  );
};

/** Does the work of one run, on a view of the runtime that is newer than the end of the run before. */
const attempt = (run: Run, signal: AbortSignal, options: PodWorkerOptions): Observable<RunResult> => {
  const { registry, newerThan, recordEvent, work } = options;
  const { pod, runningPod } = run;
  if (!pod) {
    registry.acknowledgeTermination(run.uid);
    return toEnd(runningPod ? work.syncTerminatingRuntimePod({ ...run, runningPod }) : EMPTY, run, options);
  }
  return watchedRead(options, { pod: podRef(pod), causes: run.causes }, newerThan(run.uid, run.lastSyncAt)).pipe(
    catchError((error: unknown) => {
      const message = `error determining status: ${errorText(error)}`;
      recordEvent({ pod, type: 'Warning', reason: 'FailedSync', message, causes: run.causes });
      throw new StatusUnknown(message, { cause: error });
    }),
    concatMap((status) => {
      const podRun: PodRun = { ...run, pod, status };
      switch (run.work) {
        case 'terminated':
          return toEnd(work.syncTerminatedPod(podRun, signal), run, options);
        case 'terminating':
          registry.acknowledgeTermination(run.uid);
          return toEnd(work.syncTerminatingPod(podRun), run, options);
        case 'sync':
          return work.syncPod(podRun, signal).pipe(markSynced(run, options), last(undefined, { isTerminal: false }));
      }
    }),
  );
};

/** The pod could not be read from the runtime; nothing was done to it. */
export class StatusUnknown extends Error {
  override readonly name = 'StatusUnknown';
}

const toEnd = (work$: Observable<unknown>, run: Run, options: PodWorkerOptions): Observable<RunResult> =>
  work$.pipe(markSynced(run, options), ignoreElements(), endWith({ isTerminal: false }));

/** Well ended or not, the pod was touched: what was known of it before no longer counts. */
const markSynced = <T>(run: Run, { registry, scheduler }: PodWorkerOptions): MonoTypeOperatorFunction<T> => {
  const mark = () => registry.synced(run.uid, scheduler.now());
  return tap<T>({ complete: mark, error: mark });
};

const waitForTurn = (
  uid: string,
  { pod, holder, causes }: Extract<Start, { kind: 'not-yet' }>,
  { scheduler, wallClock, random, record }: PodWorkerOptions,
): WorkerOutcome => {
  const delayMs = jittered(STATIC_START_RETRY_MS, random);
  const journalId = record({ kind: 'start-delayed', holder, retryAt: wallClock() + delayMs, pod, causes });
  const dueAt = scheduler.now() + delayMs;
  return { uid, work: 'waiting', next: 'wait-for-turn', dueAt, durationMs: 0, journalId };
};

const endBeforeStart = (
  uid: string,
  { pod, causes }: Extract<Start, { kind: 'never' }>,
  { record }: PodWorkerOptions,
): WorkerOutcome => {
  const next: NextStep = { kind: 'nothing', reason: 'the pod was stopped before it ever started' };
  const journalId = record({ kind: 'sync-ended', work: 'terminated', next, pod, causes });
  return { uid, work: 'terminated', next: 'exit', durationMs: 0, journalId };
};

const nextStep = (next: Completion['next'], dueAt: number | undefined, error: unknown): NextStep => {
  if (next === 'exit') return { kind: 'nothing', reason: 'the pod has stopped and is cleaned up' };
  if (dueAt === undefined || next === 'again') return { kind: 'now' };
  return error === undefined ? { kind: 'resync', dueAt } : { kind: 'retry', dueAt, reason: errorText(error) };
};
