import {
  asyncScheduler,
  concatMap,
  exhaustMap,
  filter,
  interval,
  map,
  merge,
  type Observable,
  observeOn,
  type SchedulerLike,
} from 'rxjs';
import type { PlegEvent } from '../../model/pleg.js';
import type { PodConfigUpdate } from '../../model/pod-config.js';
import type { Delivery } from '../../model/pod-workers/pod-worker-registry.js';
import type { RuntimePod } from '../../model/runtime-pod.js';
import type { ProbeChange } from '../probes/probe-worker.js';
import type { StopRequest } from './handle-stop.js';

/** Source: pkg/kubelet/kubelet.go syncLoop, housekeepingPeriod. Milliseconds. */
export const SYNC_TICK_MS = 1_000;
export const HOUSEKEEPING_MS = 2_000;

/** Everything that can set the loop going. Swap any of them with an ordinary function over this record. */
export interface SyncLoopInputs {
  readonly config$: Observable<PodConfigUpdate>;
  readonly pleg$: Observable<PlegEvent>;
  /** What becomes known by probes. Probes are made while this is subscribed: without it nothing is probed. */
  readonly probe$: Observable<ProbeChange>;
  readonly syncTick$: Observable<unknown>;
  /** The pods that run, as listed for a housekeeping tick. */
  readonly housekeeping$: Observable<readonly RuntimePod[]>;
  /** Requests to stop every pod of the node. */
  readonly stop$: Observable<StopRequest>;
}

/** What each input asks of the workers. Handlers are synchronous: the loop waits for nobody. */
export interface SyncLoopHandlers {
  readonly config: (update: PodConfigUpdate) => readonly Delivery[];
  readonly runtimeChange: (event: PlegEvent) => readonly Delivery[];
  readonly probe: (change: ProbeChange) => readonly Delivery[];
  readonly workDue: () => readonly Delivery[];
  readonly housekeeping: (running: readonly RuntimePod[]) => readonly Delivery[];
  readonly stop: (request: StopRequest) => readonly Delivery[];
}

/**
 * The loop of the kubelet: a merge of its inputs, each answered by what the workers are to do, in order of arrival.
 *
 * What a change of the runtime asks for is noted at once and comes out a hop of the scheduler later: one look at a pod tells of
 * several changes in a row, and a worker that the first one woke would have to read the pod again for the others.
 *
 * Errors: those of an input; every input recovers on its own before it comes here.
 * Ends:   with the last input.
 * Source: pkg/kubelet/kubelet.go syncLoopIteration
 */
export const syncLoop = (
  inputs: SyncLoopInputs,
  handlers: SyncLoopHandlers,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Delivery> =>
  merge(
    // Before anything can ask for a probe.
    inputs.probe$.pipe(map((change) => handlers.probe(change))),
    inputs.config$.pipe(map((update) => handlers.config(update))),
    inputs.pleg$.pipe(
      map((event) => handlers.runtimeChange(event)),
      observeOn(scheduler),
    ),
    inputs.syncTick$.pipe(map(() => handlers.workDue())),
    inputs.housekeeping$.pipe(map((running) => handlers.housekeeping(running))),
    inputs.stop$.pipe(map((request) => handlers.stop(request))),
  ).pipe(concatMap((deliveries) => deliveries));

/** Fires every second, first after one. */
export const syncTicks = (scheduler: SchedulerLike): Observable<unknown> => interval(SYNC_TICK_MS, scheduler);

/**
 * The pods that run, every two seconds, once every source has been heard. A listing that is late skips ticks, a failed one
 * is skipped; `listRunning` must not error.
 */
export const housekeepingTicks = (
  listRunning: () => Observable<readonly RuntimePod[]>,
  areSourcesReady: () => boolean,
  scheduler: SchedulerLike,
): Observable<readonly RuntimePod[]> =>
  interval(HOUSEKEEPING_MS, scheduler).pipe(filter(areSourcesReady), exhaustMap(listRunning));
