import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  endWith,
  ignoreElements,
  last,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  observeOn,
  of,
  type OperatorFunction,
  type SchedulerLike,
  Subject,
  tap,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { JournalId, NextStep } from '../../model/journal/journal.js';
import { type Pod, podRef } from '../../model/pod/pod.js';
import type { PodWait } from '../../model/pod-actions/start-wait.js';
import type { Completion, Run, RunResult, Start } from '../../model/pod-workers/pod-worker-run.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import { refOf, type WorkType } from '../../model/pod-workers/pod-worker-record.js';
import { jittered, requeueDelayMs, type RunEnd, STATIC_START_RETRY_MS } from '../../model/pod-workers/requeue-delay.js';
import type { RuntimePod, RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { exhaustMapLatestBy } from '../operators/exhaust-map-latest.js';
import { inTurns } from '../operators/in-turns.js';
import { journalIfSlow } from '../pod-sync/pod-sync-context.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { Random } from '../ports/random.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RecordJournal } from '../ports/record-journal.js';
import type { WallClock } from '../ports/wall-clock.js';

/** One run of a worker for a pod with a configuration. */
export type PodRun = Run & { readonly pod: Pod; readonly status: RuntimePodStatus };
/** One run for a pod that only the runtime knows. */
export type RuntimePodRun = Run & { readonly runningPod: RuntimePod };

/**
 * The work of a run, as cold Observables. After an error the work is repeated later. After `signal` a run ends as soon as it
 * safely can, with the error `SyncCancelled`; terminating work is never cancelled.
 */
export interface PodWork {
  /** Moves the pod towards its spec, and emits the result once. */
  readonly syncPod: (run: PodRun, signal: AbortSignal) => Observable<SyncResult>;
  /** Stops every container; completes when they have stopped. */
  readonly syncTerminatingPod: (run: PodRun) => Observable<unknown>;
  readonly syncTerminatingRuntimePod: (run: RuntimePodRun) => Observable<unknown>;
  /** Removes the resources of a stopped pod from the node. */
  readonly syncTerminatedPod: (run: PodRun, signal: AbortSignal) => Observable<unknown>;
}

/** The result of a sync that did not fail. */
export interface SyncResult {
  /** The pod has nothing left to do. */
  readonly isTerminal: boolean;
  /** The pod needs another sync at once. */
  readonly isUnfinished?: boolean;
  /** Containers wait before they start. */
  readonly wait?: PodWait;
}

export interface PodWorkerOptions {
  readonly state: Pick<KubeletState, 'workers' | 'apply'>;
  readonly work: PodWork;
  /** Emits a view of the pod that is newer than `timeMs`, once. Errors if the pod cannot be read. */
  readonly newerThan: (uid: string, timeMs: number) => Observable<RuntimePodStatus>;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  readonly random: Random;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
  /** The period between two syncs of a pod without problems, before jitter, in milliseconds. */
  readonly resyncIntervalMs: number;
}

/** The result of a run, and the time at which its pod is due again. */
export interface WorkerOutcome {
  readonly uid: string;
  readonly work: WorkType | 'waiting';
  readonly run?: Run;
  readonly error?: unknown;
  /** Containers of the pod wait before they start; the run did not fail. */
  readonly wait?: PodWait | undefined;
  readonly next: Completion['next'] | 'wait-for-turn';
  /** The scheduler's milliseconds; undefined if the pod needs no run by itself. */
  readonly dueAt?: number;
  /** The duration of the run, in milliseconds. */
  readonly durationMs: number;
  readonly journalId: JournalId;
}

/** The number of runs that begin in one turn: thousands of them may wait for the same relist. */
const MOST_AT_ONCE = 16;

/**
 * One serial worker per pod, side by side: emits an outcome per run. A wake during a run starts another run after this one has
 * ended; a wake with `cancel` aborts the signal of the current run.
 *
 * Errors: none; those of the work become outcomes.
 * Ends:   with the source, after the current runs. Wakes that follow from these runs are dropped.
 * Source: podWorkerLoop in pkg/kubelet/pod_workers.go
 */
export const podWorkers =
  (given: PodWorkerOptions): OperatorFunction<Wake, WorkerOutcome> =>
  (wake$) =>
    defer(() => {
      const inTurn = inTurns({ most: MOST_AT_ONCE, scheduler: given.scheduler });
      const options: PodWorkerOptions = {
        ...given,
        newerThan: (uid, timeMs) => given.newerThan(uid, timeMs).pipe(inTurn()),
      };
      // A run wakes its own worker at once. It wakes others a hop later, after the wakes of this moment.
      const again$ = new Subject<Wake>();
      const released$ = new Subject<Wake>();
      const source$ = wake$.pipe(
        tap({
          complete: () => {
            again$.complete();
            released$.complete();
          },
        }),
      );
      const send: Send = {
        own: (wake) => again$.next(wake),
        others: (wakes) => wakes.forEach((wake) => released$.next(wake)),
      };
      return merge(source$, again$, released$.pipe(observeOn(options.scheduler))).pipe(
        exhaustMapLatestBy(
          ({ uid }) => uid,
          ({ uid }, signal) => oneRun(uid, signal, options, send),
          ({ cancel }) => cancel,
        ),
      );
    });

/** Sends the wakes that follow from a run: of its own worker, and of others. */
interface Send {
  readonly own: (wake: Wake) => void;
  readonly others: (wakes: readonly Wake[]) => void;
}

const oneRun = (uid: string, signal: AbortSignal, options: PodWorkerOptions, send: Send): Observable<WorkerOutcome> => {
  const start = options.state.workers.start(uid, options.scheduler.now());
  switch (start.kind) {
    case 'idle':
      return EMPTY;
    case 'not-yet':
      return of(waitForTurn(uid, start, options));
    case 'never':
      options.state.apply({ kind: 'run-ended', uid });
      send.others(start.wakes);
      return of(endBeforeStart(uid, start, options));
    case 'run':
      return runOnce(start.run, signal, options, send);
  }
};

/** One run, with its journal entries and the wakes that follow from it. A run cannot fail: an error is an outcome. */
const runOnce = (run: Run, signal: AbortSignal, options: PodWorkerOptions, send: Send): Observable<WorkerOutcome> => {
  const { state, scheduler, wallClock, record } = options;
  const { uid, work } = run;
  const startedAt = scheduler.now();
  const pod = run.pod ? podRef(run.pod) : refOf({ uid, active: run });
  state.apply({ kind: 'run-started', uid, work, now: startedAt });
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
      const { error, wait } = endOf(result);
      const problem = wait?.message ?? (error === undefined ? undefined : errorText(error));
      const { next, own, others, forgotten } = state.workers.complete(uid, work, result, now);
      state.apply({ kind: 'run-ended', uid });
      if (forgotten) state.apply({ kind: 'pod-forgotten', uid });
      send.others(others);
      const rests = next === 'rest' || next === 'again';
      const delayMs = rests ? requeueDelayMs({ error, wait }, { ...options, now: wallClock() }) : undefined;
      const journalId = record({
        kind: 'sync-ended',
        work,
        error: problem,
        next: nextStep(next, delayMs === undefined ? undefined : wallClock() + delayMs, problem),
        pod,
        causes: [startId],
      });
      if (forgotten) record({ kind: 'forgotten', pod: forgotten, causes: [] });
      if (own) send.own(own);
      const dueAt = delayMs === undefined ? undefined : now + delayMs;
      return { uid, work, run, error, wait, next, dueAt, durationMs: now - startedAt, journalId };
    }),
  );
};

const endOf = (result: RunResult): RunEnd => ('error' in result ? { error: result.error } : { wait: result.wait });

/** Does the work of one run, with a view of the pod that is newer than the end of the run before. */
const attempt = (run: Run, signal: AbortSignal, options: PodWorkerOptions): Observable<RunResult> => {
  const { newerThan, recordEvent, work } = options;
  const { pod, runningPod } = run;
  if (!pod) return toEnd(runningPod ? work.syncTerminatingRuntimePod({ ...run, runningPod }) : EMPTY, run, options);
  return journalIfSlow(options, { pod: podRef(pod), causes: run.causes }, newerThan(run.uid, run.lastSyncAt)).pipe(
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
          return toEnd(work.syncTerminatingPod(podRun), run, options);
        case 'sync':
          return work
            .syncPod(podRun, signal)
            .pipe(markSynced(run, options), last(undefined, { isTerminal: false } as SyncResult));
      }
    }),
  );
};

/** The pod could not be read from the runtime; the run has changed nothing. */
class StatusUnknown extends Error {
  override readonly name = 'StatusUnknown';
}

const toEnd = (work$: Observable<unknown>, run: Run, options: PodWorkerOptions): Observable<RunResult> =>
  work$.pipe(markSynced(run, options), ignoreElements(), endWith({ isTerminal: false }));

/** After the work, failed or not, the views from before it are out of date. */
const markSynced = <T>(run: Run, { state, scheduler }: PodWorkerOptions): MonoTypeOperatorFunction<T> => {
  const mark = () => state.workers.synced(run.uid, scheduler.now());
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

const nextStep = (next: Completion['next'], dueAt: number | undefined, problem: string | undefined): NextStep => {
  if (next === 'exit') return { kind: 'nothing', reason: 'the pod has stopped and is cleaned up' };
  if (dueAt === undefined || next === 'again') return { kind: 'now' };
  return problem === undefined ? { kind: 'resync', dueAt } : { kind: 'retry', dueAt, reason: problem };
};
