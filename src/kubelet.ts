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
  type SchedulerLike,
  share,
  startWith,
  Subject,
  take,
  takeUntil,
  takeWhile,
  tap,
} from 'rxjs';
import { admitPod } from './model/admission/admit-pod.js';
import type { Admit } from './model/admission/rejection.js';
import type { Image } from './generated/runtime/v1/api.js';
import { type ContainerGcPolicy, DEFAULT_CONTAINER_GC } from './model/container-gc.js';
import { errorText } from './model/cri-error.js';
import { EVENTED_PLEG, GENERIC_PLEG, type PlegCadence, plegHealth } from './model/pleg.js';
import { DEFAULT_IMAGE_GC, type ImageGcPolicy, keepsImages } from './model/images/image-gc.js';
import { DEFAULT_LOG_ROTATION, type LogRotationPolicy } from './model/log-rotation.js';
import type { ImageVerification } from './model/images/image-verification.js';
import type { Pod } from './model/pod.js';
import { PodManager } from './model/pod-manager.js';
import { PodStatusStore } from './model/pod-status-store.js';
import { podOf, type PodWorkerRecord } from './model/pod-workers/pod-worker-record.js';
import { type Delivery, PodWorkerRegistry } from './model/pod-workers/pod-worker-registry.js';
import { ReasonCache } from './model/reason-cache.js';
import { aggregateText, runtimeProblems, UNKNOWN_RUNTIME_STATE } from './model/runtime-state.js';
import { isQuiet, type RuntimePod, type RuntimePodStatus } from './model/runtime-pod.js';
import { SourcesReady } from './model/sources-ready.js';
import { WorkQueue } from './model/work-queue.js';
import { kubeletCgroups } from './streams/cgroups/kubelet-cgroups.js';
import type { NodeCgroups } from './streams/cgroups/node-cgroups.js';
import { garbageCollection } from './streams/garbage-collection.js';
import { imageGarbageCollection } from './streams/image-gc.js';
import { imageLists } from './streams/image-list.js';
import { logRotation } from './streams/log-rotation.js';
import { gate } from './streams/operators/gate.js';
import { pleg, type ViewRequest } from './streams/pleg.js';
import { createPodCache, type PodCache, type PodReading } from './streams/pod-cache.js';
import { podDirectories } from './streams/pod-directories.js';
import { podConfig, type PodSources } from './streams/pod-config.js';
import { newBackOffs } from './streams/pod-sync/back-offs.js';
import { podWork, type PodWorkPorts } from './streams/pod-work.js';
import { podWorkers, type WorkerOutcome } from './streams/pod-workers.js';
import type { DiskSpace, LogFiles, Logger, PullRecords, Random, RuntimeClasses } from './streams/ports.js';
import { ledgerFor } from './streams/pull-ledger.js';
import { type PullLimits, pullQueue } from './streams/pull-queue.js';
import { startQueue } from './streams/start-queue.js';
import { type RuntimeEventNews, runtimeEvents } from './streams/runtime-events.js';
import { type RuntimeReader, runtimeReader } from './streams/runtime-reader.js';
import { runtimeStates } from './streams/runtime-state.js';
import { terminationMessages } from './streams/termination-messages.js';
import { handleConfig } from './streams/sync-loop/handle-config.js';
import { handleHousekeeping } from './streams/sync-loop/handle-housekeeping.js';
import { handleRuntimeChange } from './streams/sync-loop/handle-runtime-change.js';
import { handleStop, hasStopped, type StopRequest } from './streams/sync-loop/handle-stop.js';
import { handleWorkDue } from './streams/sync-loop/handle-work-due.js';
import { activePods, type LoopDesk } from './streams/sync-loop/loop-desk.js';
import { observeOutcome } from './streams/sync-loop/observe-outcome.js';
import { observePleg, type PlegWatch } from './streams/sync-loop/observe-pleg.js';
import { observeRuntime } from './streams/sync-loop/observe-runtime.js';
import { observeRuntimeEvents } from './streams/sync-loop/observe-runtime-events.js';
import {
  housekeepingTicks,
  syncLoop,
  type SyncLoopHandlers,
  type SyncLoopInputs,
  syncTicks,
} from './streams/sync-loop/sync-loop.js';
import { runningPods, runningPodsInCache } from './streams/sync-loop/running-pods.js';

/** The outside world, as the whole agent needs it. */
export interface KubeletPorts extends Pick<
  PodWorkPorts,
  | 'runtime'
  | 'images'
  | 'files'
  | 'podFiles'
  | 'httpRequest'
  | 'record'
  | 'recordEvent'
  | 'metrics'
  | 'scheduler'
  | 'wallClock'
  | 'node'
  | 'runtimeName'
  | 'nodeCredentials'
  | 'pullSecrets'
> {
  readonly pullRecords: PullRecords;
  readonly log: Logger;
  readonly logFiles: LogFiles;
  readonly diskSpace: DiskSpace;
  readonly random: Random;
  /** Pods stay where the runtime puts them unless given. */
  readonly nodeCgroups?: NodeCgroups;
}

export interface KubeletOptions {
  /** Where pods come from, by name. */
  readonly sources: PodSources;
  /** Milliseconds between two looks at a pod with which all is well, before jitter. */
  readonly syncFrequencyMs?: number;
  /** Milliseconds; the longest wait of a container that keeps failing. */
  readonly maxRestartBackOffMs?: number;
  /** How many images are pulled at a time, and how many in a second. */
  readonly imagePulls?: PullLimits;
  /** Which images that are there a pod must prove to have access to; `undefined` is the kubelet's default, `none` is of no image. */
  readonly imageVerification?: ImageVerification | 'none';
  readonly containerGc?: ContainerGcPolicy;
  readonly logRotation?: LogRotationPolicy;
  readonly imageGc?: ImageGcPolicy;
  /** Which pods this node takes in; `admitPod` by the facts of the node unless given. */
  readonly admit?: Admit;
  /** Lists rarely while the runtime tells what happens. Its events are heard in any case. */
  readonly eventedPleg?: boolean;
  /**
   * The handler of the runtime for a RuntimeClass, by its name. Unless given, a class has no effect, as for a kubelet without an
   * API server: the pod runs with the default handler, and an event says so.
   */
  readonly runtimeClasses?: RuntimeClasses;
  /** Stops every pod; then `outcome$` ends as soon as nothing of them can be running. */
  readonly stop$?: Observable<StopRequest>;
  /** Swaps inputs of the loop: `(inputs) => ({ ...inputs, pleg$: mine$ })`. */
  readonly swap?: (inputs: SyncLoopInputs) => SyncLoopInputs;
}

/** A node agent. Nothing happens until `outcome$` is subscribed, and everything stops when it is unsubscribed. */
export interface Kubelet {
  /** One outcome for every run of a pod's worker. Errors: none. Ends: only after `stop$` has stopped every pod. */
  readonly outcome$: Observable<WorkerOutcome>;
  /** The pods that the sources want, each with its status as this node sees it. */
  readonly pods: () => readonly Pod[];
  /** The images of the node, largest first; no older than 30 s while the runtime answers. */
  readonly images: () => readonly Image[];
  /** Why the node does not work properly; undefined while it does. */
  readonly health: () => string | undefined;
}

/**
 * The daemon as a merge of streams: configuration, changes of the runtime, and ticks flow into one loop, and from there to
 * one serial worker per pod.
 */
export const kubelet = (ports: KubeletPorts, options: KubeletOptions): Kubelet => {
  const { runtime, scheduler, wallClock, random, record, recordEvent, log } = ports;
  const {
    sources,
    syncFrequencyMs = 60_000,
    maxRestartBackOffMs = 300_000,
    eventedPleg = false,
    stop$ = NEVER,
    swap = (inputs) => inputs,
  } = options;

  const cache = createPodCache();
  const reader = runtimeReader(runtime, scheduler, terminationMessages(ports.podFiles));
  const directories = podDirectories({ ...ports, rootDirectory: ports.node.rootDirectory });
  const relistWatch: PlegWatch = { lastRelistAt: undefined, cadence: GENERIC_PLEG };
  let runtimeState = UNKNOWN_RUNTIME_STATE;
  let imageList: readonly Image[] = [];
  const problems = (): readonly string[] => {
    const health = plegHealth(relistWatch.lastRelistAt, scheduler.now(), relistWatch.cadence.thresholdMs);
    return runtimeProblems(runtimeState, scheduler.now(), health.healthy ? undefined : health.problem);
  };
  const desk: LoopDesk = {
    ...ports,
    pods: new PodManager(),
    workers: new PodWorkerRegistry((uid) => showsNothing(cache.get(uid))),
    queue: new WorkQueue(),
    statuses: new PodStatusStore(),
    sources: new SourcesReady(Object.keys(sources)),
    admit: options.admit ?? admitPod(() => ports.node),
    backOffs: newBackOffs(),
  };
  const cgroups = kubeletCgroups({ ...ports, activePods: () => activePods(desk) });
  const handlers: SyncLoopHandlers = {
    config: handleConfig(desk),
    runtimeChange: handleRuntimeChange(desk),
    workDue: handleWorkDue(desk),
    housekeeping: handleHousekeeping(desk),
    stop: handleStop(desk),
  };

  const outcome$ = defer(() => {
    // The one loop of the agent: what a worker did to a pod has to be seen by PLEG before the worker goes on.
    const relistRequest$ = new Subject<string>();
    const viewRequest$ = new Subject<ViewRequest>();
    const listing$ = new Subject<readonly RuntimePod[]>();
    const work = podWork({
      ...ports,
      reader,
      podDirectories: directories,
      podCgroups: cgroups.podCgroups,
      statuses: desk.statuses,
      reasons: new ReasonCache(),
      runtimeClasses: options.runtimeClasses,
      ...desk.backOffs,
      pullQueue: pullQueue(options.imagePulls ?? {}, scheduler),
      pullLedger: ledgerFor(ports, options.imageVerification),
      startQueue: startQueue(scheduler),
      maxRestartBackOffMs,
      networkProblem: () => runtimeState.networkProblem,
      isKnown: (uid) => hasConfiguration(desk.workers.record(uid)),
      relistSoon: (uid) => relistRequest$.next(uid),
    });

    const stopping$ = stop$.pipe(share());
    const config$ = podConfig(sources, { scheduler, wallClock }).pipe(takeUntil(stopping$));
    const eventNews$ = runtimeEvents(() => runtime.containerEvents(), scheduler).pipe(
      tap(observeRuntimeEvents(desk)),
      share(),
    );
    const cadence$ = eventedPleg ? relistCadence(eventNews$) : concat(of(GENERIC_PLEG), NEVER);
    const pleg$ = pleg({
      reader,
      cache,
      hint$: eventNews$.pipe(mergeMap((news) => (news.kind === 'event' ? [news.uid] : []))),
      cadence$: cadence$.pipe(tap((cadence) => (relistWatch.cadence = cadence))),
      relistRequest$: relistRequest$.pipe(observeOn(scheduler)),
      viewRequest$: viewRequest$.pipe(observeOn(scheduler)),
      observe: observePleg(desk, relistWatch, (pods) => listing$.next(pods)),
      scheduler,
    });
    const isWell = observeRuntime(desk, problems);
    const runtimeState$ = runtimeStates(ports).pipe(
      tap((state) => (runtimeState = state)),
      share(),
    );
    const syncTick$ = syncTicks(scheduler).pipe(tap(isWell));
    const housekeeping$ = housekeepingTicks(
      () => {
        const list = () => runningPods(listing$, listRunning(reader, log), scheduler);
        const isTold = relistWatch.cadence !== GENERIC_PLEG;
        return isTold ? runningPodsInCache(cache, (uid) => desk.workers.record(uid) !== undefined, list) : list();
      },
      () => desk.sources.all,
      scheduler,
    );

    const inputs = swap({ config$, pleg$, syncTick$, housekeeping$, stop$: stopping$ });
    const shared = { ...inputs, pleg$: inputs.pleg$.pipe(share()), housekeeping$: inputs.housekeeping$.pipe(share()) };
    const garbage$ = garbageCollection({
      ...ports,
      reader,
      workers: desk.workers,
      areSourcesReady: () => desk.sources.all,
      statusOf: (uid) => statusIn(cache.get(uid)),
      pleg$: shared.pleg$,
      rootDirectory: ports.node.rootDirectory,
      podLogsDirectory: ports.node.podLogsDirectory,
      containerLogsDirectory: ports.node.containerLogsDirectory,
      policy: options.containerGc ?? DEFAULT_CONTAINER_GC,
    });

    const rotation$ = logRotation({ ...ports, policy: options.logRotation ?? DEFAULT_LOG_ROTATION });
    const imageGarbage$ = keepsImages(ports.runtimeName)
      ? imageGarbageCollection({ ...ports, policy: options.imageGc ?? DEFAULT_IMAGE_GC })
      : EMPTY;
    const imageList$ = imageLists(ports).pipe(
      tap((images) => (imageList = images)),
      ignoreElements(),
    );

    const directories$ = directories.cleanUp(shared.housekeeping$, (uid, running) => isForgotten(desk, uid, running));

    const cgroups$ = cgroups.tend(shared.housekeeping$, (uid) => !desk.workers.shouldBeFinished(uid));

    const worked$ = syncLoop(shared, handlers).pipe(
      holdWhileUnwell(isWell, merge(runtimeState$, listing$), scheduler),
      podWorkers({
        registry: desk.workers,
        work,
        newerThan: (uid, timeMs) => newerThan(cache, uid, timeMs, () => viewRequest$.next({ uid, newerThan: timeMs })),
        resyncIntervalMs: syncFrequencyMs,
        record,
        recordEvent,
        random,
        scheduler,
        wallClock,
      }),
      tap(observeOutcome(desk)),
    );
    const running$ = merge(
      worked$,
      runtimeState$.pipe(ignoreElements()),
      garbage$,
      rotation$,
      imageGarbage$,
      imageList$,
      directories$,
      cgroups$,
    ).pipe(endWhenStopped(stopping$, () => hasStopped(desk)));
    return concat(cgroups.prepare$, running$);
  });

  return {
    outcome$,
    pods: () => desk.pods.pods().map((pod) => ({ ...pod, status: desk.statuses.get(pod.metadata.uid) ?? pod.status })),
    images: () => imageList,
    health: () => {
      const found = problems();
      return found.length === 0 ? undefined : aggregateText(found);
    },
  };
};

/** Pods are known at once, but nobody works on them while the runtime is not well. Source: pkg/kubelet/kubelet.go syncLoop. */
const holdWhileUnwell = (
  isWell: () => boolean,
  news$: Observable<unknown>,
  scheduler: SchedulerLike,
): MonoTypeOperatorFunction<Delivery> =>
  gate({
    isOpen: isWell,
    keyOf: ({ kind, uid }) => `${kind} ${uid}`,
    fold: (held, delivery) =>
      held.kind === 'wake' && delivery.kind === 'wake'
        ? { ...delivery, cancel: held.cancel || delivery.cancel }
        : delivery,
    initialMs: 100,
    maxMs: 5_000,
    nudge$: news$,
    scheduler,
  });

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

/** Ends once a stop was asked for and nothing can be running any more. */
const endWhenStopped =
  (stopping$: Observable<unknown>, isOver: () => boolean): MonoTypeOperatorFunction<WorkerOutcome> =>
  (source) =>
    defer(() => {
      let isStopping = false;
      const nothingToStop$ = stopping$.pipe(
        tap(() => (isStopping = true)),
        filter(isOver),
      );
      return source.pipe(
        takeWhile(({ next }) => !isStopping || next === 'advance' || !isOver(), true),
        takeUntil(nothingToStop$),
      );
    });

/** Whoever has to wait for a newer view of a pod asks for it, instead of waiting for the next relist. */
const newerThan = (cache: PodCache, uid: string, timeMs: number, relist: () => void): Observable<RuntimePodStatus> => {
  const asked$ = defer(() => {
    relist();
    return EMPTY;
  });
  // A view that is new enough is there at once, and then nothing is asked.
  return merge(cache.newerThan(uid, timeMs), asked$).pipe(take(1));
};

const hasConfiguration = (record: PodWorkerRecord | undefined): boolean =>
  record !== undefined && podOf(record) !== undefined;

/** No source wants the pod, nobody works on it, and nothing of it runs. */
const isForgotten = ({ pods, workers }: LoopDesk, uid: string, running: readonly RuntimePod[]): boolean =>
  pods.get(uid) === undefined && workers.record(uid) === undefined && running.every((pod) => pod.uid !== uid);

const statusIn = (reading: PodReading): RuntimePodStatus | undefined =>
  reading.kind === 'status' ? reading.status : undefined;

/** A pod that could not be read may run for all we know. */
const showsNothing = (reading: PodReading): boolean => reading.kind === 'status' && isQuiet(reading.status);

/** A listing for housekeeping; one that fails is said and skipped. */
const listRunning = (reader: RuntimeReader, log: Logger) => () =>
  reader.listPods('running').pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'housekeeping is skipped: the runtime could not list its pods');
      return EMPTY;
    }),
  );
