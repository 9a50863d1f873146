import {
  asyncScheduler,
  concatMap,
  exhaustMap,
  interval,
  map,
  merge,
  type Observable,
  observeOn,
  type SchedulerLike,
} from 'rxjs';
import type { PlegEvent } from '../../model/pleg/pleg.js';
import type { PodConfigUpdate } from '../../model/config/pod-config.js';
import type { RecordedKill } from '../../model/pod-workers/pod-update.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';
import type { ProbeChange } from '../probes/probe-worker.js';
import type { ResizeTrigger } from '../resize/resize-triggers.js';
import type { StopRequest } from './handle-stop.js';

/** Source: pkg/kubelet/kubelet.go syncLoop, housekeepingPeriod. Milliseconds. */
export const SYNC_TICK_MS = 1_000;
export const HOUSEKEEPING_MS = 2_000;

/** The inputs of the loop. A function over this record swaps any of them. */
export interface SyncLoopInputs {
  readonly config$: Observable<PodConfigUpdate>;
  readonly pleg$: Observable<PlegEvent>;
  /** The results of probes. Probes run while it is subscribed. */
  readonly probe$: Observable<ProbeChange>;
  readonly syncTick$: Observable<unknown>;
  /** The running pods, as listed for a housekeeping tick. */
  readonly housekeeping$: Observable<readonly RuntimePod[]>;
  /** Resizes that wait are due. */
  readonly resize$: Observable<ResizeTrigger>;
  /** Requests of managers to stop one pod. */
  readonly kill$: Observable<RecordedKill>;
  /** Requests to stop every pod of the node. */
  readonly stop$: Observable<StopRequest>;
}

/** One handler per input: it changes the state and returns the wakes of workers. Handlers are synchronous: the loop never waits. */
export interface SyncLoopHandlers {
  readonly config: (update: PodConfigUpdate) => readonly Wake[];
  readonly runtimeChange: (event: PlegEvent) => readonly Wake[];
  readonly probe: (change: ProbeChange) => readonly Wake[];
  readonly workDue: () => readonly Wake[];
  readonly housekeeping: (running: readonly RuntimePod[]) => readonly Wake[];
  readonly resize: (trigger: ResizeTrigger) => readonly Wake[];
  readonly kill: (request: RecordedKill) => readonly Wake[];
  readonly stop: (request: StopRequest) => readonly Wake[];
}

/**
 * The loop of the kubelet: a merge of its inputs. A handler answers each value with wakes, in order of arrival.
 *
 * A change of the runtime is applied to the state at once, and its wakes are emitted a hop of the scheduler later: one read of a
 * pod shows several changes in a row, and a worker that the first of them woke would have to read the pod again for the others.
 *
 * Errors: those of an input; every input recovers on its own before it comes here.
 * Ends:   with the last input.
 * Source: pkg/kubelet/kubelet.go syncLoopIteration
 */
export const syncLoop = (
  inputs: SyncLoopInputs,
  handlers: SyncLoopHandlers,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Wake> =>
  merge(
    // First, since the other inputs may request a probe, or be a reason to try a resize.
    inputs.probe$.pipe(map((change) => handlers.probe(change))),
    inputs.resize$.pipe(map((trigger) => handlers.resize(trigger))),
    inputs.config$.pipe(map((update) => handlers.config(update))),
    inputs.pleg$.pipe(
      map((event) => handlers.runtimeChange(event)),
      observeOn(scheduler),
    ),
    inputs.syncTick$.pipe(map(() => handlers.workDue())),
    inputs.housekeeping$.pipe(map((running) => handlers.housekeeping(running))),
    inputs.kill$.pipe(map((request) => handlers.kill(request))),
    inputs.stop$.pipe(map((request) => handlers.stop(request))),
  ).pipe(concatMap((wakes) => wakes));

/** Emits every second, first after one second. */
export const syncTicks = (scheduler: SchedulerLike): Observable<unknown> => interval(SYNC_TICK_MS, scheduler);

/** Emits the running pods every two seconds. A slow listing skips ticks, a failed one is skipped; `listRunning` must not error. */
export const housekeepingTicks = (
  listRunning: () => Observable<readonly RuntimePod[]>,
  scheduler: SchedulerLike,
): Observable<readonly RuntimePod[]> => interval(HOUSEKEEPING_MS, scheduler).pipe(exhaustMap(listRunning));
