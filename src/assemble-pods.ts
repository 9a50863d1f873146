import { concat, type Observable } from 'rxjs';
import type { ClusterParts } from './assemble-cluster.js';
import type { KubeletOptions } from './kubelet-options.js';
import { CRASH_LOOP_MAX_MS } from './model/pod-actions/crash-loop-back-off.js';
import { type KubeletCgroups, kubeletCgroups } from './streams/cgroups/kubelet-cgroups.js';
import { ledgerFor } from './streams/images/pull-ledger.js';
import { pullQueue } from './streams/images/pull-queue.js';
import { type AssembledPleg, assemblePleg } from './streams/pleg/assemble-pleg.js';
import { type PlegRequests, plegRequests } from './streams/pleg/pleg-requests.js';
import type { PodCache } from './streams/pleg/pod-cache.js';
import { type RuntimeReader, runtimeReader } from './streams/pleg/runtime-reader.js';
import { terminationMessages } from './streams/pleg/termination-messages.js';
import { recordNodeEventOnce } from './streams/pod-sync/record-node-event.js';
import { startQueue } from './streams/pod-sync/start-queue.js';
import { podWork } from './streams/pod-workers/pod-work.js';
import type { PodWork } from './streams/pod-workers/pod-workers.js';
import { untilRoom } from './streams/pod-workers/until-room.js';
import { nodeProber } from './streams/probes/node-prober.js';
import type { Prober } from './streams/probes/prober.js';
import type { RuntimeHealth } from './streams/runtime-health/runtime-health.js';
import { amountKeeper } from './streams/resize/amount-keeper.js';
import { activePods } from './streams/sync-loop/active-pods.js';
import type { LoopContext } from './streams/sync-loop/loop-context.js';
import { type PodDirectories, podDirectories } from './streams/upkeep/pod-directories.js';
import { podVolumes } from './streams/volumes/pod-volumes.js';

/** What brings a pod to its desired state, and what sees its actual one. */
export interface PodParts {
  readonly reader: RuntimeReader;
  readonly pleg: AssembledPleg;
  readonly probes: Prober;
  readonly directories: PodDirectories;
  readonly cgroups: KubeletCgroups;
  readonly volumes$: Observable<never>;
  /** The steps of a worker. */
  readonly work: PodWork;
  readonly newerThan: PlegRequests['newerThan'];
  /** Completes before the first pod is touched. Errors: as the cgroups. */
  readonly prepare$: Observable<never>;
}

interface SharedParts {
  readonly context: LoopContext;
  readonly cache: PodCache;
  readonly health: RuntimeHealth;
}

export const assemblePods = (
  { ports, references }: Pick<ClusterParts, 'ports' | 'references'>,
  options: KubeletOptions,
  { context, cache, health }: SharedParts,
): PodParts => {
  const { state, podStarts } = context;
  const { runtime, scheduler } = ports;
  const reader = runtimeReader(runtime, scheduler, terminationMessages(ports.podFiles));
  const requests = plegRequests(cache);
  const pleg = assemblePleg({
    ...{ context, runtime, reader, cache, health, requests },
    eventedPleg: options.eventedPleg ?? false,
  });
  const volumes = podVolumes({ ...ports, ...references, state, runtimeHandlers: () => health.report().handlers });
  const directories = podDirectories({
    ...ports,
    removeVolumes: volumes.removeLeftovers,
    rootDirectory: ports.node.rootDirectory,
  });
  const cgroups = kubeletCgroups({ ...ports, activePods: () => activePods(state) });
  const probes = nodeProber({
    ...{ ...ports, statuses: state.statuses, cache },
    startOf: (uid, containerId) => state.starts.get(uid, containerId),
  });
  const keeper = amountKeeper(state, ports.checkpoints);
  const work = podWork({
    ...{ ...ports, ...references, reader, state, volumes, probes, podStarts },
    amountKeeper: keeper,
    listedPods: pleg.listedPods,
    podDirectories: directories,
    podCgroups: cgroups.podCgroups,
    untilRoom: untilRoom({ ...ports, state }),
    pullQueue: pullQueue(options.imagePulls ?? {}, scheduler),
    pullLedger: ledgerFor(ports, options.imageVerification),
    startQueue: startQueue(scheduler),
    recordNodeEvent: recordNodeEventOnce(ports.recordEvent),
    maxRestartBackOffMs: options.maxRestartBackOffMs ?? CRASH_LOOP_MAX_MS,
    networkProblem: health.networkProblem,
    relistSoon: requests.relistSoon,
  });
  return {
    ...{ reader, pleg, probes, directories, cgroups },
    volumes$: volumes.run$,
    work: requests.during(work),
    newerThan: requests.newerThan,
    prepare$: concat(cgroups.prepare$, keeper.restore$, probes.prepare$),
  };
};
