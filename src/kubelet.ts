import {
  concat,
  defer,
  EMPTY,
  filter,
  merge,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  share,
  Subject,
  take,
  takeUntil,
  takeWhile,
  tap,
} from 'rxjs';
import { admitPod } from './model/admission/admit-pod.js';
import type { Admit } from './model/admission/rejection.js';
import type { ImageVerification } from './model/images/image-verification.js';
import type { Pod } from './model/pod.js';
import { liveNodeFacts } from './model/node/live-node-facts.js';
import { PodManager } from './model/pod-manager.js';
import { PodStartTracker } from './model/pod-start-tracker.js';
import { PodStatusStore } from './model/pod-status-store.js';
import { podOf, type PodWorkerRecord } from './model/pod-workers/pod-worker-record.js';
import { PodWorkerRegistry } from './model/pod-workers/pod-worker-registry.js';
import { ReasonCache } from './model/reason-cache.js';
import { isQuiet, type RuntimePodStatus } from './model/runtime-pod.js';
import { SourcesReady } from './model/sources-ready.js';
import { WorkQueue } from './model/work-queue.js';
import { kubeletCgroups } from './streams/cgroups/kubelet-cgroups.js';
import type { NodeCgroups } from './streams/cgroups/node-cgroups.js';
import type { PlegOptions, ViewRequest } from './streams/pleg.js';
import { clusterNode, type ClusterOptions, type ClusterPorts } from './streams/cluster/cluster-node.js';
import { type ChorePolicies, chores } from './streams/chores.js';
import type { Image } from './streams/image-list.js';
import { createPodCache, type PodCache, type PodReading } from './streams/pod-cache.js';
import { podDirectories } from './streams/pod-directories.js';
import { ownEvents } from './streams/own-events.js';
import { podConfig, type PodSources } from './streams/pod-config.js';
import { newBackOffs } from './streams/pod-sync/back-offs.js';
import { podWork, type PodWorkPorts } from './streams/pod-work.js';
import { nodeProber } from './streams/probes/node-prober.js';
import { podWorkers, type WorkerOutcome } from './streams/pod-workers.js';
import type {
  DiskSpace,
  LogFiles,
  Logger,
  ProbeHandlers,
  ProbeRecords,
  PullRecords,
  Random,
  RuntimeClasses,
} from './streams/ports.js';
import { ledgerFor } from './streams/pull-ledger.js';
import { type PullLimits, pullQueue } from './streams/pull-queue.js';
import { startQueue } from './streams/start-queue.js';
import { runtimeReader } from './streams/runtime-reader.js';
import { healthProblem, runtimeReport, unknownHealth, watchRuntime } from './streams/runtime-watch.js';
import { terminationMessages } from './streams/termination-messages.js';
import { handleConfig } from './streams/sync-loop/handle-config.js';
import { handleHousekeeping } from './streams/sync-loop/handle-housekeeping.js';
import { handleProbe } from './streams/sync-loop/handle-probe.js';
import { handleRuntimeChange } from './streams/sync-loop/handle-runtime-change.js';
import { handleStop, hasStopped, type StopRequest } from './streams/sync-loop/handle-stop.js';
import { handleWorkDue } from './streams/sync-loop/handle-work-due.js';
import { activePods, type LoopDesk } from './streams/sync-loop/loop-desk.js';
import { observeOutcome } from './streams/sync-loop/observe-outcome.js';
import {
  housekeepingTicks,
  syncLoop,
  type SyncLoopHandlers,
  type SyncLoopInputs,
  syncTicks,
} from './streams/sync-loop/sync-loop.js';

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
  /** Without them nothing is probed, and containers are as if they had no probes. */
  readonly probeHandlers?: ProbeHandlers;
  /** What probes have found out is forgotten with the agent unless given. */
  readonly probeRecords?: ProbeRecords;
  /** Pods stay where the runtime puts them unless given. */
  readonly nodeCgroups?: NodeCgroups;
  /** For `cluster` of the options: without them the node stands alone. */
  readonly cluster?: ClusterPorts;
}

export interface KubeletOptions extends ChorePolicies {
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
  /** Which pods this node takes in; `admitPod` by the facts of the node unless given. */
  readonly admit?: Admit;
  /** Lists rarely while the runtime tells what happens. Its events are heard in any case. */
  readonly eventedPleg?: boolean;
  /**
   * The handler of the runtime for a RuntimeClass, by its name. Unless given, a class has no effect, as for a kubelet without an
   * API server: the pod runs with the default handler, and an event says so.
   */
  readonly runtimeClasses?: RuntimeClasses;
  /**
   * Makes it a node of a cluster, with the ports of that name: pods of the API server are a source like the others, called `api`, and
   * the API server is told of statuses, events and the node. It stands alone unless given.
   */
  readonly cluster?: ClusterOptions;
  /** Stops every pod; then `outcome$` ends as soon as nothing of them can be running. */
  readonly stop$?: Observable<StopRequest>;
  /**
   * Swaps inputs of the loop: `(inputs) => ({ ...inputs, pleg$: mine$ })`. A `pleg$` of your own is one of `pleg(ofPleg)` with
   * other options, since workers wait for what it puts into their cache.
   */
  readonly swap?: (inputs: SyncLoopInputs, ofPleg: PlegOptions) => SyncLoopInputs;
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
export const kubelet = (given: KubeletPorts, options: KubeletOptions): Kubelet => {
  const { runtime, scheduler, wallClock, random, record } = given;
  const { syncFrequencyMs = 60_000, maxRestartBackOffMs = 300_000, stop$ = NEVER, swap = (inputs) => inputs } = options;

  const health = unknownHealth();
  let imageList: readonly Image[] = [];
  let checkRuntime$: Observable<never> = EMPTY;
  const podStarts = new PodStartTracker();
  const cluster =
    given.cluster && options.cluster
      ? clusterNode({ ...given, ...given.cluster }, options.cluster, {
          ...{ syncFrequencyMs, podStarts },
          images: () => imageList,
          runtimeReport: () => runtimeReport(health, scheduler.now()),
          checkRuntime$: defer(() => checkRuntime$),
        })
      : undefined;
  const ports: KubeletPorts = cluster
    ? {
        ...given,
        node: liveNodeFacts(given.node, cluster.node),
        recordEvent: cluster.recordEvent,
        pullSecrets: cluster.references.pullSecrets,
      }
    : given;
  const { recordEvent } = ports;
  // A source of that name that somebody has swapped takes the place of the cluster's own.
  const sources: PodSources = { ...(cluster && { api: cluster.source$ }), ...options.sources };

  const cache = createPodCache();
  const reader = runtimeReader(runtime, scheduler, terminationMessages(ports.podFiles));
  const directories = podDirectories({ ...ports, rootDirectory: ports.node.rootDirectory });
  const desk: LoopDesk = {
    ...ports,
    pods: new PodManager(),
    workers: new PodWorkerRegistry((uid) => showsNothing(cache.get(uid))),
    queue: new WorkQueue(),
    statuses: new PodStatusStore(),
    sources: new SourcesReady(Object.keys(sources)),
    admit: options.admit ?? admitPod(() => ports.node),
    backOffs: newBackOffs(),
    ...(cluster && { podStarts }),
  };
  const cgroups = kubeletCgroups({ ...ports, activePods: () => activePods(desk) });
  const probes = nodeProber({ ...ports, ...desk, cache });
  const handlers: SyncLoopHandlers = {
    config: handleConfig(desk),
    runtimeChange: handleRuntimeChange(desk),
    probe: handleProbe(desk, probes.look),
    workDue: handleWorkDue(desk),
    housekeeping: handleHousekeeping(desk, probes.retain),
    stop: handleStop(desk),
  };

  const outcome$ = defer(() => {
    // The one loop of the agent: what a worker did to a pod has to be seen by PLEG before the worker goes on.
    const relistRequest$ = new Subject<string>();
    const viewRequest$ = new Subject<ViewRequest>();
    const ownEvent = ownEvents((uid) => relistRequest$.next(uid));
    const work = podWork({
      ...ports,
      reader,
      podDirectories: directories,
      podCgroups: cgroups.podCgroups,
      probes,
      statuses: desk.statuses,
      reasons: new ReasonCache(),
      runtimeClasses: options.runtimeClasses ?? cluster?.references.runtimeClasses,
      podReferences: cluster?.references,
      podStarts: desk.podStarts,
      ...desk.backOffs,
      pullQueue: pullQueue(options.imagePulls ?? {}, scheduler),
      pullLedger: ledgerFor(ports, options.imageVerification),
      startQueue: startQueue(scheduler),
      maxRestartBackOffMs,
      networkProblem: () => health.state.networkProblem,
      hasStarted: (uid) => hasStarted(desk.workers.record(uid)),
      claim: (uid) => desk.workers.claim(uid),
      relistSoon: (uid) => {
        ownEvent.answered(uid);
        relistRequest$.next(uid);
      },
    });

    const stopping$ = stop$.pipe(share());
    const config$ = podConfig(sources, { scheduler, wallClock }).pipe(takeUntil(stopping$));
    const watch = watchRuntime({
      ...{ desk, runtime, reader, cache, health, relistRequest$, viewRequest$ },
      hints: ownEvent.hints,
      eventedPleg: options.eventedPleg ?? false,
    });
    const { pleg$ } = watch;
    checkRuntime$ = watch.check$;
    const syncTick$ = syncTicks(scheduler).pipe(tap(watch.isWell));
    const housekeeping$ = housekeepingTicks(watch.running, () => desk.sources.all, scheduler);

    const inputs = swap(
      { config$, pleg$, probe$: probes.change$, syncTick$, housekeeping$, stop$: stopping$ },
      watch.ofPleg,
    );
    const shared = { ...inputs, pleg$: inputs.pleg$.pipe(share()), housekeeping$: inputs.housekeeping$.pipe(share()) };
    const chore$ = chores({
      ...ports,
      ...{ desk, reader, cache, directories, cgroups },
      ...{ pleg$: shared.pleg$, housekeeping$: shared.housekeeping$ },
      imagesListed: (images) => (imageList = images),
      policies: options,
    });
    const worked$ = syncLoop(shared, handlers, scheduler).pipe(
      watch.whileWell,
      podWorkers({
        registry: desk.workers,
        work: ownEvent.during(work),
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
    const beside$ = cluster ? cluster.beside(desk) : EMPTY;
    const running$ = merge(worked$, watch.state$, chore$, beside$).pipe(
      endWhenStopped(stopping$, () => hasStopped(desk)),
    );
    return concat(cgroups.prepare$, probes.prepare$, running$);
  });

  return {
    outcome$,
    pods: () => desk.pods.pods().map((pod) => ({ ...pod, status: desk.statuses.get(pod.metadata.uid) ?? pod.status })),
    images: () => imageList,
    health: () => healthProblem(health, scheduler.now()),
  };
};

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

const hasStarted = (record: PodWorkerRecord | undefined): boolean =>
  record?.startedAt !== undefined && podOf(record) !== undefined;

/** A pod that could not be read may run for all we know. */
const showsNothing = (reading: PodReading): boolean => reading.kind === 'status' && isQuiet(reading.status);
