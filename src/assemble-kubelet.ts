import { concatMap, ignoreElements, NEVER } from 'rxjs';
import { assembleCluster, sourceNames } from './assemble-cluster.js';
import { assemblePods } from './assemble-pods.js';
import type { KubeletOptions, KubeletPorts } from './kubelet-options.js';
import type { KubeletParts } from './kubelet-parts.js';
import { admitPod } from './model/admission/admit-pod.js';
import { findRunningPod, runningPods } from './model/pleg/running-pods.js';
import { isQuiet, oldestTraceOf, type RuntimePodStatus } from './model/pleg/runtime-pod.js';
import { firstRejection } from './model/admission/rejection.js';
import { admitUnderPressure } from './model/eviction/admit-under-pressure.js';
import { admitUntilShutdown } from './model/shutdown/shutting-down.js';
import { podConfig } from './streams/config/pod-config.js';
import { nodeEviction } from './streams/eviction/node-eviction.js';
import { oomWatcher } from './streams/node/oom-watcher.js';
import { createPodCache, type PodCache, type PodReading } from './streams/pleg/pod-cache.js';
import { podKills } from './streams/pod-workers/kill-pod-now.js';
import { podWorkers } from './streams/pod-workers/pod-workers.js';
import { resizeTriggers } from './streams/resize/resize-triggers.js';
import { holdWhileUnhealthy } from './streams/runtime-health/hold-while-unhealthy.js';
import { runtimeHealth } from './streams/runtime-health/runtime-health.js';
import { nodeShutdown } from './streams/shutdown/node-shutdown.js';
import { handleConfig } from './streams/sync-loop/handle-config.js';
import { handleHousekeeping } from './streams/sync-loop/handle-housekeeping.js';
import { handleKill } from './streams/sync-loop/handle-kill.js';
import { handleProbe } from './streams/sync-loop/handle-probe.js';
import { handleResize } from './streams/sync-loop/handle-resize.js';
import { handleRuntimeChange } from './streams/sync-loop/handle-runtime-change.js';
import { handleStop, hasStopped } from './streams/sync-loop/handle-stop.js';
import { handleWorkDue } from './streams/sync-loop/handle-work-due.js';
import { kubeletState } from './streams/sync-loop/kubelet-state.js';
import type { LoopContext } from './streams/sync-loop/loop-context.js';
import { observeOutcome } from './streams/sync-loop/observe-outcome.js';
import { podChanges } from './streams/sync-loop/pod-changes.js';
import { podGuard } from './streams/sync-loop/pod-guard.js';
import { housekeepingTicks, syncTicks } from './streams/sync-loop/sync-loop.js';
import { whenKnown } from './streams/sync-loop/when-known.js';
import { upkeep } from './streams/upkeep/upkeep.js';

/** Default of `syncFrequencyMs`. Source: pkg/kubelet/apis/config/v1beta1/defaults.go. */
export const SYNC_FREQUENCY_MS = 60_000;

/** Makes the parts of one life of the agent. All state of that life is made here. */
export const assembleKubelet = (given: KubeletPorts, options: KubeletOptions): KubeletParts => {
  const { syncFrequencyMs = SYNC_FREQUENCY_MS, stop$ = NEVER } = options;

  // All parts share the view of the runtime, the state, and the health of the runtime.
  const cache = createPodCache();
  const state = kubeletState({
    sources: sourceNames(given, options),
    isQuiet: (uid) => showsNothing(cache.get(uid)),
  });
  const health = runtimeHealth({ ...given, state });

  // The cluster of the node, and the ports that it brings. The pods: what sees them, and what works on them.
  const cluster = assembleCluster(given, options, { state, health, syncFrequencyMs });
  const { ports } = cluster;
  const { scheduler, wallClock } = ports;
  const context: LoopContext = {
    ...{ ...ports, ...cluster.loop, state },
    admit: firstRejection(
      admitUnderPressure(() => state.value.pressure),
      options.admit ?? admitPod(() => ports.node),
      admitUntilShutdown(() => state.value.isShuttingDown),
    ),
    guard: podGuard(ports.log),
  };
  const pods = assemblePods(cluster, options, { context, cache, health });
  const { pleg, probes } = pods;
  const kills = podKills({ ...ports, state });
  const shutdown = nodeShutdown({ ...ports, ...kills, state, groups: options.shutdownGroups ?? [] });

  return {
    config$: podConfig(cluster.sources, { scheduler, wallClock }),
    pleg$: pleg.pleg$,
    probe$: probes.change$,
    // Each tick checks the health, so that a change is known within a second.
    syncTick$: syncTicks(scheduler).pipe(concatMap(() => health.check$)),
    housekeeping$: housekeepingTicks(pleg.running, scheduler),
    resize$: resizeTriggers(state, scheduler),
    kill$: kills.kill$,
    stop$,
    stopInOrder: shutdown.stopInOrder,
    swap: (inputs) => options.swap?.(inputs, pleg.options) ?? inputs,
    handlers: {
      config: handleConfig(context),
      runtimeChange: handleRuntimeChange(context),
      probe: handleProbe(context, probes.look),
      workDue: handleWorkDue(context),
      housekeeping: handleHousekeeping(context, probes.retain),
      resize: handleResize(context),
      kill: handleKill(context),
      stop: handleStop(context),
    },
    holdWhileIll: holdWhileUnhealthy({ health, relist$: pleg.relist$, scheduler }),
    podWorkers: podWorkers({
      ...{ ...ports, state, work: pods.work, newerThan: pods.newerThan },
      resyncIntervalMs: syncFrequencyMs,
    }),
    requeue: observeOutcome(context),
    hasStopped: () => hasStopped(state),
    prepare$: pods.prepare$,
    volumes$: pods.volumes$,
    runtimeHealth$: health.state$.pipe(ignoreElements()),
    shutdown$: shutdown.shutdown$,
    evict: nodeEviction({ ...ports, ...kills, state, policy: options.eviction }),
    systemOom$: oomWatcher(ports),
    healthJournal$: health.journal$,
    upkeep: (inputs) => upkeep({ ...ports, ...pods, context, cache, inputs, policies: options }),
    cluster: cluster.streams,
    scheduler,
    state$: state.state$,
    pods$: podChanges(state),
    runtimePod$: cache.read$,
    node$: cluster.node$,
    health$: health.health$,
    ready$: whenKnown(state, pleg, cache),
    view: {
      pods: () => state.pods.pods().map((pod) => state.pod(pod.metadata.uid) ?? pod),
      existsSince: (uid) => {
        const reading = cache.get(uid);
        return reading.kind === 'status' ? oldestTraceOf(reading.status) : undefined;
      },
      runningPods: () => runningPods(statusesIn(cache)),
      node: cluster.node,
      findRunning: (pod) => findRunningPod(statusesIn(cache), { ...pod, uid: state.pods.podUidOf(pod.uid) }),
      images: () => state.images,
      health: health.problem,
    },
  };
};

const statusesIn = (cache: PodCache): readonly RuntimePodStatus[] =>
  [...cache.entries().values()].flatMap((entry) => (entry.kind === 'status' ? [entry.status] : []));

/** A pod that could not be read may run. */
const showsNothing = (reading: PodReading): boolean => reading.kind === 'status' && isQuiet(reading.status);
