import {
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  merge,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  of,
  type OperatorFunction,
  type SchedulerLike,
  Subject,
  take,
} from 'rxjs';
import type { KubeletOptions, KubeletPorts, KubeletView } from './kubelet-options.js';
import { admitPod } from './model/admission/admit-pod.js';
import { liveNodeFacts } from './model/node/live-node-facts.js';
import type { PodConfigUpdate } from './model/config/pod-config.js';
import { CRASH_LOOP_MAX_MS } from './model/pod-actions/crash-loop-back-off.js';
import { PodStartTracker } from './model/pod-status/pod-start-tracker.js';
import type { Wake } from './model/pod-workers/wake.js';
import type { Node } from './model/node/node.js';
import type { NodeState } from './model/node-state/node-state.js';
import type { PodChange } from './model/pod-status/pod-change.js';
import { findRunningPod, runningPods } from './model/pleg/running-pods.js';
import { isQuiet, oldestTraceOf, type RuntimePodStatus } from './model/pleg/runtime-pod.js';
import { kubeletCgroups } from './streams/cgroups/kubelet-cgroups.js';
import { clusterNode, type ClusterStreams } from './streams/cluster/cluster-node.js';
import { assemblePleg } from './streams/pleg/assemble-pleg.js';
import { ignoreOwnEvents } from './streams/pleg/ignore-own-events.js';
import type { ViewRequest } from './streams/pleg/pleg.js';
import { createPodCache, type PodCache, type PodReading } from './streams/pleg/pod-cache.js';
import { podConfig, type PodSources } from './streams/config/pod-config.js';
import { podDirectories } from './streams/upkeep/pod-directories.js';
import { recordNodeEventOnce } from './streams/pod-sync/record-node-event.js';
import { podWork } from './streams/pod-workers/pod-work.js';
import { podWorkers, type WorkerOutcome } from './streams/pod-workers/pod-workers.js';
import { nodeProber } from './streams/probes/node-prober.js';
import { ledgerFor } from './streams/images/pull-ledger.js';
import { pullQueue } from './streams/images/pull-queue.js';
import { manifestReferences } from './streams/references/manifest-references.js';
import { bothPullSecrets } from './streams/references/pull-secrets.js';
import { runtimeReader } from './streams/pleg/runtime-reader.js';
import { holdWhileUnhealthy } from './streams/runtime-health/hold-while-unhealthy.js';
import { runtimeHealth, type RuntimeProblem } from './streams/runtime-health/runtime-health.js';
import { startQueue } from './streams/pod-sync/start-queue.js';
import { podVolumes } from './streams/volumes/pod-volumes.js';
import { handleConfig } from './streams/sync-loop/handle-config.js';
import { handleHousekeeping } from './streams/sync-loop/handle-housekeeping.js';
import { handleProbe } from './streams/sync-loop/handle-probe.js';
import { handleRuntimeChange } from './streams/sync-loop/handle-runtime-change.js';
import { handleStop, hasStopped, type StopRequest } from './streams/sync-loop/handle-stop.js';
import { handleWorkDue } from './streams/sync-loop/handle-work-due.js';
import { activePods } from './streams/sync-loop/active-pods.js';
import { kubeletState } from './streams/sync-loop/kubelet-state.js';
import type { LoopContext } from './streams/sync-loop/loop-context.js';
import { observeOutcome } from './streams/sync-loop/observe-outcome.js';
import { podChanges } from './streams/sync-loop/pod-changes.js';
import { podGuard } from './streams/sync-loop/pod-guard.js';
import {
  housekeepingTicks,
  type SyncLoopHandlers,
  type SyncLoopInputs,
  syncTicks,
} from './streams/sync-loop/sync-loop.js';
import { whenKnown } from './streams/sync-loop/when-known.js';
import { terminationMessages } from './streams/pleg/termination-messages.js';
import { type UpkeepInputs, upkeep, type UpkeepStreams } from './streams/upkeep/upkeep.js';

/** The parts of one life of the agent, as `src/kubelet.ts` puts them together. */
export interface KubeletParts {
  /** Pods that the sources want, as changes. Errors: none. */
  readonly config$: Observable<PodConfigUpdate>;
  readonly pleg$: SyncLoopInputs['pleg$'];
  readonly probe$: SyncLoopInputs['probe$'];
  readonly syncTick$: SyncLoopInputs['syncTick$'];
  readonly housekeeping$: SyncLoopInputs['housekeeping$'];
  readonly stop$: Observable<StopRequest>;
  /** Swaps inputs of the loop, as the options ask. */
  readonly swap: (inputs: SyncLoopInputs) => SyncLoopInputs;
  readonly handlers: SyncLoopHandlers;
  /** The gate: holds wakes while the runtime is ill, one per pod. */
  readonly holdWhileIll: MonoTypeOperatorFunction<Wake>;
  /** One serial worker per pod: `groupBy` by UID, `exhaustMapLatest` for each. */
  readonly podWorkers: OperatorFunction<Wake, WorkerOutcome>;
  /** Puts the pod of an outcome back into the work queue, for when it is due again. */
  readonly requeue: (outcome: WorkerOutcome) => void;
  /** Nothing of any pod can be running any more. */
  readonly hasStopped: () => boolean;
  /** Work before the first input is read: makes the cgroups of the node, reads the results of earlier probes. Emits nothing. */
  readonly prepare$: Observable<never>;
  /** Sets up, updates and takes down volumes. A worker waits for those of its pod. Emits nothing. */
  readonly volumes$: Observable<never>;
  /** Keeps the health of the runtime up to date. Emits nothing. */
  readonly runtimeHealth$: Observable<never>;
  /** Records and logs each change of the health that a check finds. Emits nothing. */
  readonly healthJournal$: Observable<never>;
  readonly health$: Observable<RuntimeProblem>;
  /** Garbage, images, logs, directories and cgroups. No pod waits for any of it. */
  readonly upkeep: (inputs: UpkeepInputs) => UpkeepStreams;
  /** The streams that write to the API server, if there is one. No pod waits for any of them. */
  readonly cluster: ClusterStreams;
  readonly scheduler: SchedulerLike;
  /** The state as one value, the newest first. */
  readonly state$: Observable<NodeState>;
  /** What becomes of single pods, beginning with those that are there. */
  readonly pods$: Observable<PodChange>;
  /** The Node, the present one first. */
  readonly node$: Observable<Node | undefined>;
  /** Emits once the pods are known. */
  readonly ready$: Observable<void>;
  readonly view: KubeletView;
}

/** Default of `syncFrequencyMs`. Source: pkg/kubelet/apis/config/v1beta1/defaults.go. */
export const SYNC_FREQUENCY_MS = 60_000;

/** Makes the parts of one life of the agent. All state of that life is made here. */
export const assembleKubelet = (given: KubeletPorts, options: KubeletOptions): KubeletParts => {
  const { runtime, scheduler, wallClock, random, record } = given;
  const { syncFrequencyMs = SYNC_FREQUENCY_MS, maxRestartBackOffMs = CRASH_LOOP_MAX_MS, stop$ = NEVER } = options;

  const cache = createPodCache();
  const state = kubeletState({
    // A source of the same name in the options takes the place of the cluster's own.
    sources: [...new Set([...(given.cluster && options.cluster ? ['api'] : []), ...Object.keys(options.sources)])],
    isQuiet: (uid) => showsNothing(cache.get(uid)),
  });
  const health = runtimeHealth(given);
  const podStarts = new PodStartTracker();
  const cluster =
    given.cluster && options.cluster
      ? clusterNode({ ...given, ...given.cluster }, options.cluster, {
          syncFrequencyMs,
          podStarts,
          state,
          health,
        })
      : undefined;
  // Without an API server the sources provide the objects that their pods refer to.
  const manifests = cluster ? undefined : manifestReferences(given.log);
  const references = cluster?.references ?? manifests;
  const ports: KubeletPorts = cluster
    ? {
        ...given,
        node: liveNodeFacts(given.node, cluster.node),
        recordEvent: cluster.recordEvent,
        pullSecrets: cluster.references.pullSecrets,
      }
    : { ...given, ...(manifests && { pullSecrets: bothPullSecrets(manifests.pullSecrets, given.pullSecrets) }) };
  const sources: PodSources = { ...(cluster && { api: cluster.source$ }), ...options.sources };

  const reader = runtimeReader(runtime, scheduler, terminationMessages(ports.podFiles));
  const runtimeClasses = options.runtimeClasses ?? cluster?.references.runtimeClasses;
  const volumes = podVolumes({
    ...ports,
    podReferences: references,
    podToken: cluster?.references.podToken,
    podCertificate: cluster?.references.podCertificate,
    runtimeClasses,
    runtimeHandlers: () => health.report().handlers,
  });
  const directories = podDirectories({
    ...ports,
    removeVolumes: volumes.removeLeftovers,
    rootDirectory: ports.node.rootDirectory,
  });
  const context: LoopContext = {
    ...ports,
    state,
    admit: options.admit ?? admitPod(() => ports.node),
    guard: podGuard(ports.log),
    setObjects: manifests?.setObjects,
    ...(cluster && { podStarts }),
  };
  const cgroups = kubeletCgroups({ ...ports, activePods: () => activePods(state) });
  const probes = nodeProber({
    ...{ ...ports, statuses: state.statuses, cache },
    startOf: (uid, containerId) => state.starts.get(uid, containerId),
  });

  // A worker asks the PLEG for a relist of its pod after it changed it, and for a view when it waits for a newer one.
  const relistRequest$ = new Subject<string>();
  const viewRequest$ = new Subject<ViewRequest>();
  const ownEvents = ignoreOwnEvents((uid) => relistRequest$.next(uid));
  const work = podWork({
    ...ports,
    reader,
    listedPods: () => pleg.listedPods(),
    podDirectories: directories,
    volumes,
    podCgroups: cgroups.podCgroups,
    probes,
    state,
    runtimeClasses,
    podReferences: references,
    podStarts: context.podStarts,
    pullQueue: pullQueue(options.imagePulls ?? {}, scheduler),
    pullLedger: ledgerFor(ports, options.imageVerification),
    startQueue: startQueue(scheduler),
    recordNodeEvent: recordNodeEventOnce(ports.recordEvent),
    maxRestartBackOffMs,
    networkProblem: health.networkProblem,
    relistSoon: (uid) => {
      ownEvents.readRequested(uid);
      relistRequest$.next(uid);
    },
  });
  const pleg = assemblePleg({
    context,
    runtime,
    reader,
    cache,
    health,
    relistRequest$,
    viewRequest$,
    hints: ownEvents.hints,
    eventedPleg: options.eventedPleg ?? false,
  });

  return {
    config$: podConfig(sources, { scheduler, wallClock }),
    pleg$: pleg.pleg$,
    probe$: probes.change$,
    // Each tick checks the health, so that a change is known within a second.
    syncTick$: syncTicks(scheduler).pipe(concatMap(() => health.check$)),
    housekeeping$: housekeepingTicks(pleg.running, scheduler),
    stop$,
    swap: (inputs) => options.swap?.(inputs, pleg.options) ?? inputs,
    handlers: {
      config: handleConfig(context),
      runtimeChange: handleRuntimeChange(context),
      probe: handleProbe(context, probes.look),
      workDue: handleWorkDue(context),
      housekeeping: handleHousekeeping(context, probes.retain),
      stop: handleStop(context),
    },
    holdWhileIll: holdWhileUnhealthy({ health, relist$: pleg.relist$, scheduler }),
    podWorkers: podWorkers({
      state,
      work: ownEvents.during(work),
      newerThan: (uid, timeMs) => newerThan(cache, uid, timeMs, () => viewRequest$.next({ uid, newerThan: timeMs })),
      resyncIntervalMs: syncFrequencyMs,
      record,
      recordEvent: ports.recordEvent,
      random,
      scheduler,
      wallClock,
    }),
    requeue: observeOutcome(context),
    hasStopped: () => hasStopped(state),
    prepare$: concat(cgroups.prepare$, probes.prepare$),
    volumes$: volumes.run$,
    runtimeHealth$: health.state$.pipe(ignoreElements()),
    healthJournal$: health.journal$,
    health$: health.health$,
    upkeep: (inputs) =>
      upkeep({
        ...ports,
        context,
        reader,
        cache,
        directories,
        cgroups,
        inputs,
        policies: options,
      }),
    cluster: cluster?.streams(state) ?? ALONE,
    scheduler,
    state$: state.state$,
    pods$: podChanges(state),
    node$: cluster?.node$ ?? concat(of(undefined), NEVER),
    ready$: whenKnown(state, pleg, cache),
    view: {
      pods: () => state.pods.pods().map((pod) => state.pod(pod.metadata.uid) ?? pod),
      existsSince: (uid) => {
        const reading = cache.get(uid);
        return reading.kind === 'status' ? oldestTraceOf(reading.status) : undefined;
      },
      runningPods: () => runningPods(statusesIn(cache)),
      node: () => cluster?.node(),
      findRunning: (pod) => findRunningPod(statusesIn(cache), { ...pod, uid: state.pods.podUidOf(pod.uid) }),
      images: () => state.images,
      health: health.problem,
    },
  };
};

const statusesIn = (cache: PodCache): readonly RuntimePodStatus[] =>
  [...cache.entries().values()].flatMap((entry) => (entry.kind === 'status' ? [entry.status] : []));

/** The streams of a node without an API server. */
const ALONE: ClusterStreams = {
  nodeView$: EMPTY,
  nodeStatus$: EMPTY,
  lease$: EMPTY,
  references$: EMPTY,
  podStatuses$: EMPTY,
  mirrorPods$: EMPTY,
  events$: EMPTY,
};

/** Waits for a view of the pod that is newer than `timeMs`, and asks for it unless it is there. */
const newerThan = (cache: PodCache, uid: string, timeMs: number, request: () => void): Observable<RuntimePodStatus> => {
  const requested$ = defer(() => {
    request();
    return EMPTY;
  });
  return merge(cache.newerThan(uid, timeMs), requested$).pipe(take(1));
};

/** A pod that could not be read may run. */
const showsNothing = (reading: PodReading): boolean => reading.kind === 'status' && isQuiet(reading.status);
