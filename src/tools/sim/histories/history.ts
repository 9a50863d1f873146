import type { EvictionPolicy } from '../../../model/eviction/eviction-policy.js';
import type { TellingFacts } from '../../../model/node/node-facts.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { SourceObject } from '../../../model/references/source-object.js';
import type { ShutdownGroup } from '../../../model/shutdown/shutdown-groups.js';
import type { NodeBehaviours } from '../world/behaviour.js';
import type { Fault } from '../faults/fault.js';
import type { ClusterPlan } from './cluster-plan.js';

/** When every history begins, in Unix milliseconds. */
export const HISTORY_START_MS = Date.UTC(2026, 0, 1);

/** What a container takes, in thousandths of the node. */
export interface ResourceUse {
  readonly memory: number;
  readonly disk: number;
  readonly pids: number;
}

/** The eviction of a history's node, which has 1,000 units of each resource. */
export interface HistoryEviction {
  readonly policy: EvictionPolicy;
  /** What a container takes from its start to its removal on the disk, and while it runs of the rest, by its name; nothing by default. */
  readonly use: Readonly<Record<string, ResourceUse>>;
}

/** The settings of a history's node. */
export interface HistoryNode {
  /** Lists rarely while the runtime emits events. */
  readonly eventedPleg: boolean;
  readonly syncFrequencyMs: number;
  readonly maxRestartBackOffMs: number;
  /** The number of images that are pulled at a time. */
  readonly parallelPulls: number;
  /** The time without use after which an image is removed; never by default. */
  readonly imageMaxAgeMs?: number;
  /** The groups of pods at a shutdown of the machine, lowest priority first; none by default. */
  readonly shutdownGroups?: readonly ShutdownGroup[];
  /** What pods take, and when they are evicted; nothing is measured by default. */
  readonly eviction?: HistoryEviction;
  /** The number of pods for which the node has room; 110 by default. */
  readonly podCapacity?: number;
  /** Other facts than those of any simulated node, `node-1`. */
  readonly facts?: TellingFacts;
}

/** From then on the source has this version of the pod, or none. */
export interface PlannedPodChange {
  readonly atMs: number;
  /** The pod as its source delivers it; absent once the source no longer has it. */
  readonly pod?: Pod;
}

/** The versions of one pod over time: a manifest that is added, changed, removed and added again. */
export interface PodPlan {
  /** The name in the history. */
  readonly key: string;
  readonly source: 'file' | 'http' | 'api';
  /** In the order of time. */
  readonly changes: readonly PlannedPodChange[];
}

/** From then on the source has this version of the ConfigMap or Secret, or none. */
export interface ObjectChange {
  readonly atMs: number;
  readonly object?: SourceObject;
}

/** The versions over time of one ConfigMap or Secret of a source, for the pods of this source. */
export interface ObjectPlan {
  readonly source: PodPlan['source'];
  /** In the order of time. */
  readonly changes: readonly ObjectChange[];
}

/**
 * A life of a node, as plain JSON: the desired pods over time, the behaviour of their containers, and the faults. Runs
 * of the same history are equal. Times are milliseconds since its beginning.
 */
export interface History {
  /** The seed of every draw while it runs. */
  readonly seed: number;
  readonly node: HistoryNode;
  readonly pods: readonly PodPlan[];
  /** The ConfigMaps and Secrets that pods of manifests refer to, on a node without a cluster; nothing by default. */
  readonly objects?: readonly ObjectPlan[];
  /** The cluster of the agent; none by default. */
  readonly cluster?: ClusterPlan;
  readonly behaviours: NodeBehaviours;
  readonly faults: readonly Fault[];
  /** From then on nothing changes and no fault happens any more, and every desired state has to be reached. */
  readonly quietFromMs: number;
  /** Its end. */
  readonly endMs: number;
}
