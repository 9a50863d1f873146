import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  mergeMap,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  observeOn,
  of,
  share,
  startWith,
  Subject,
  tap,
} from 'rxjs';
import { errorText } from '../model/cri-error.js';
import { EVENTED_PLEG, GENERIC_PLEG, type PlegCadence, type PlegEvent, plegHealth } from '../model/pleg.js';
import type { RuntimeReport } from '../model/node/runtime-report.js';
import type { Delivery } from '../model/pod-workers/pod-worker-registry.js';
import type { RuntimePod } from '../model/runtime-pod.js';
import {
  aggregateText,
  foldRuntimeStatus,
  runtimeProblems,
  type RuntimeState,
  UNKNOWN_RUNTIME_STATE,
} from '../model/runtime-state.js';
import { gate } from './operators/gate.js';
import type { OwnEvents } from './own-events.js';
import { pleg, type PlegOptions } from './pleg.js';
import type { RuntimeService } from './ports.js';
import { type RuntimeEventNews, runtimeEvents } from './runtime-events.js';
import type { RuntimeReader } from './runtime-reader.js';
import { runtimeStates } from './runtime-state.js';
import type { LoopDesk } from './sync-loop/loop-desk.js';
import { observePleg, type PlegWatch } from './sync-loop/observe-pleg.js';
import { observeRuntime } from './sync-loop/observe-runtime.js';
import { observeRuntimeEvents } from './sync-loop/observe-runtime-events.js';
import { runningPods, runningPodsInCache } from './sync-loop/running-pods.js';

/** What is known of the runtime's health; kept up to date by `watchRuntime`. */
export interface RuntimeHealth {
  readonly relists: PlegWatch;
  state: RuntimeState;
}

export const unknownHealth = (): RuntimeHealth => ({
  relists: { lastRelistAt: undefined, cadence: GENERIC_PLEG },
  state: UNKNOWN_RUNTIME_STATE,
});

/** Why the node does not work properly; undefined while it does. `now` in the scheduler's milliseconds. */
export const healthProblem = (health: RuntimeHealth, now: number): string | undefined => {
  const problems = problemsOf(health, now);
  return problems.length === 0 ? undefined : aggregateText(problems);
};

/** What the Node tells of the runtime: a network that is not ready keeps the node from being ready, but nobody from working. */
export const runtimeReport = (health: RuntimeHealth, now: number): RuntimeReport => {
  const { networkProblem, handlers, features } = health.state;
  return {
    problems: [...problemsOf(health, now), ...(networkProblem === undefined ? [] : [networkProblem])],
    ...(handlers && { handlers }),
    ...(features && { features }),
  };
};

const problemsOf = ({ relists, state }: RuntimeHealth, now: number): readonly string[] => {
  const health = plegHealth(relists.lastRelistAt, now, relists.cadence.thresholdMs);
  return runtimeProblems(state, now, health.healthy ? undefined : health.problem);
};

interface RuntimeWatchOptions extends Required<Pick<PlegOptions, 'cache' | 'relistRequest$' | 'viewRequest$'>> {
  readonly desk: LoopDesk;
  readonly runtime: Pick<RuntimeService, 'containerEvents' | 'status'>;
  readonly reader: RuntimeReader;
  readonly health: RuntimeHealth;
  /** The pods to look at because of what the runtime says. */
  readonly hints: OwnEvents['hints'];
  /** Lists rarely while the runtime tells what happens. */
  readonly eventedPleg: boolean;
}

/** All that is heard of the runtime. */
export interface RuntimeWatch {
  /** What happens to containers. */
  readonly pleg$: Observable<PlegEvent>;
  /** What it is made of. */
  readonly ofPleg: PlegOptions;
  /** Asks the runtime how it is; emits nothing. */
  readonly state$: Observable<never>;
  /** Asks it once more, beside its turn, and ends; emits nothing. Errors: none, and what is known stays. */
  readonly check$: Observable<never>;
  /** The pods that run, as one pass of housekeeping wants them. Errors: none; where they cannot be listed nothing comes. */
  readonly running: () => Observable<readonly RuntimePod[]>;
  /** Whether pods can be synchronised now; says each change of the answer. */
  readonly isWell: () => boolean;
  /** Holds deliveries back until the runtime is well. Pods are known meanwhile, but nobody works on them. */
  readonly whileWell: MonoTypeOperatorFunction<Delivery>;
}

/** Listens to the runtime in every way there is: relists, events, its own word on how it is. */
export const watchRuntime = (options: RuntimeWatchOptions): RuntimeWatch => {
  const { desk, runtime, reader, cache, health, hints, eventedPleg, relistRequest$, viewRequest$ } = options;
  const { scheduler } = desk;
  const listing$ = new Subject<readonly RuntimePod[]>();
  const news$ = runtimeEvents(() => runtime.containerEvents(), scheduler).pipe(
    tap(observeRuntimeEvents(desk)),
    share(),
  );
  const cadence$ = eventedPleg ? relistCadence(news$) : concat(of(GENERIC_PLEG), NEVER);
  const ofPleg: PlegOptions = {
    reader,
    cache,
    hint$: news$.pipe(mergeMap(hints)),
    cadence$: cadence$.pipe(tap((cadence) => (health.relists.cadence = cadence))),
    relistRequest$: relistRequest$.pipe(
      // From here on: nothing that is said of all pods before the hop is said of this one.
      tap((uid) => cache.hold(uid)),
      observeOn(scheduler),
    ),
    viewRequest$: viewRequest$.pipe(observeOn(scheduler)),
    observe: observePleg(desk, health.relists, (pods) => listing$.next(pods)),
    scheduler,
  };
  const state$ = runtimeStates({ ...desk, runtime }).pipe(
    tap((state) => (health.state = state)),
    share(),
  );
  const check$ = defer(() => runtime.status({})).pipe(
    tap((status) => (health.state = foldRuntimeStatus(health.state, status, scheduler.now()))),
    ignoreElements(),
    catchError(() => EMPTY),
  );
  const isWell = observeRuntime(desk, () => healthProblem(health, scheduler.now()));
  const isWorkedOn = (uid: string) => desk.workers.record(uid) !== undefined;
  const list = () => listRunning(reader, desk);
  return {
    pleg$: pleg(ofPleg),
    ofPleg,
    state$: state$.pipe(ignoreElements()),
    check$,
    running: () =>
      health.relists.cadence === GENERIC_PLEG
        ? runningPods(listing$, list, scheduler)
        : runningPodsInCache(cache, isWorkedOn, list),
    isWell,
    whileWell: gate({
      isOpen: isWell,
      keyOf: ({ kind, uid }) => `${kind} ${uid}`,
      fold: foldDeliveries,
      // Source: pkg/kubelet/kubelet.go syncLoop
      initialMs: 100,
      maxMs: 5_000,
      nudge$: merge(state$, listing$),
      scheduler,
    }),
  };
};

/**
 * Rare listings from when the runtime's events are there until they break, else frequent ones; each change, and each further
 * failure, lists at once.
 */
const relistCadence = (news$: Observable<RuntimeEventNews>): Observable<PlegCadence> =>
  news$.pipe(
    filter(({ kind }) => kind !== 'event'),
    map(({ kind }) => (kind === 'connected' ? EVENTED_PLEG : GENERIC_PLEG)),
    startWith(GENERIC_PLEG),
  );

/** A wake that cancels goes on cancelling when another one takes its place. */
const foldDeliveries = (held: Delivery, delivery: Delivery): Delivery =>
  held.kind === 'wake' && delivery.kind === 'wake' ? { ...delivery, cancel: held.cancel || delivery.cancel } : delivery;

/** A listing for housekeeping; one that fails is said and skipped. */
const listRunning = (reader: RuntimeReader, { log }: Pick<LoopDesk, 'log'>): Observable<readonly RuntimePod[]> =>
  reader.listPods('running').pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'housekeeping is skipped: the runtime could not list its pods');
      return EMPTY;
    }),
  );
