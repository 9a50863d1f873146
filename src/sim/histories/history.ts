import type { Pod } from '../../model/pod.js';
import type { NodeBehaviours } from '../behaviour.js';
import type { Fault } from '../faults/fault.js';
import type { ClusterPlan } from './cluster-plan.js';

/** When every history begins, in Unix milliseconds. */
export const HISTORY_START_MS = Date.UTC(2026, 0, 1);

/** How the node of a history is set up. */
export interface HistoryNode {
  /** Lists rarely while the runtime tells what happens. */
  readonly eventedPleg: boolean;
  readonly syncFrequencyMs: number;
  readonly maxRestartBackOffMs: number;
  /** Images that are pulled at a time. */
  readonly parallelPulls: number;
}

/** From then on the source wants the pod as it stands here, or no longer wants it. */
export interface PodChange {
  readonly atMs: number;
  /** As its source delivers it; absent when the source no longer has it. */
  readonly pod?: Pod;
}

/** One thing that a source has to say over time: a manifest that appears, changes, goes and comes back. */
export interface PodPlan {
  /** How the history calls it. */
  readonly key: string;
  readonly source: 'file' | 'http' | 'api';
  /** In the order of time. */
  readonly changes: readonly PodChange[];
}

/**
 * A life of a node, as plain JSON: which pods are wanted when, how their containers behave, and what goes wrong. The same history
 * always runs the same. Times are milliseconds since its beginning.
 */
export interface History {
  /** Of every draw while it runs. */
  readonly seed: number;
  readonly node: HistoryNode;
  readonly pods: readonly PodPlan[];
  /** The agent belongs to a cluster; it stands alone unless given. */
  readonly cluster?: ClusterPlan;
  readonly behaviours: NodeBehaviours;
  readonly faults: readonly Fault[];
  /** From then on nothing changes and nothing goes wrong any more, and what is wanted has to come true. */
  readonly quietFromMs: number;
  /** Its end. */
  readonly endMs: number;
}
