import type { MonoTypeOperatorFunction, Observable, OperatorFunction, SchedulerLike } from 'rxjs';
import type { KubeletView } from './kubelet-options.js';
import type { PodConfigUpdate } from './model/config/pod-config.js';
import type { Node } from './model/node/node.js';
import type { NodeState } from './model/node-state/node-state.js';
import type { PodChange } from './model/pod-status/pod-change.js';
import type { Wake } from './model/pod-workers/wake.js';
import type { ClusterStreams } from './streams/cluster/cluster-node.js';
import type { Evict } from './streams/eviction/node-eviction.js';
import type { WorkerOutcome } from './streams/pod-workers/pod-workers.js';
import type { RuntimeProblem } from './streams/runtime-health/runtime-health.js';
import type { StopRequest } from './streams/sync-loop/handle-stop.js';
import type { SyncLoopHandlers, SyncLoopInputs } from './streams/sync-loop/sync-loop.js';
import type { UpkeepInputs, UpkeepStreams } from './streams/upkeep/upkeep.js';

/** The parts of one life of the agent, as `src/kubelet.ts` puts them together. */
export interface KubeletParts {
  /** Pods that the sources want, as changes. Errors: none. */
  readonly config$: Observable<PodConfigUpdate>;
  readonly pleg$: SyncLoopInputs['pleg$'];
  readonly probe$: SyncLoopInputs['probe$'];
  readonly syncTick$: SyncLoopInputs['syncTick$'];
  readonly housekeeping$: SyncLoopInputs['housekeeping$'];
  readonly resize$: SyncLoopInputs['resize$'];
  readonly kill$: SyncLoopInputs['kill$'];
  readonly stop$: Observable<StopRequest>;
  /** Delays a request to stop every pod until the groups are stopped, if the pods have groups. */
  readonly stopInOrder: MonoTypeOperatorFunction<StopRequest>;
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
  /** Stops the pods when the machine shuts down. Emits nothing. */
  readonly shutdown$: Observable<never>;
  /** Evicts pods from a node that is short of something. Emits nothing. */
  readonly evict: Evict;
  /** Reports that the memory of the machine runs out. Emits nothing. */
  readonly systemOom$: Observable<never>;
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
  /** The UID of each pod that was read from the runtime. */
  readonly runtimePod$: Observable<string>;
  /** The Node, the present one first. */
  readonly node$: Observable<Node | undefined>;
  /** Emits once the pods are known. */
  readonly ready$: Observable<void>;
  readonly view: KubeletView;
}
