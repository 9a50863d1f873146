import type { ContainerKind } from '../../../model/pod/pod.js';
import type { ProbeName } from '../world/behaviour.js';

/**
 * The plan of pods under assumed behaviours. Plain JSON; fields may be added, existing ones stay. Every field in `Ms`
 * is in milliseconds; `atMs`, `fromMs`, `toMs` and the like count from the start of the node, where the pods exist
 * already.
 */
export interface Plan {
  readonly version: 1;
  /** The seed of every draw: delays of the world, jitter of the agent. */
  readonly seed: string;
  /** When the remaining pods are deleted, to show how they drain. */
  readonly forMs: number;
  /** When the last one of them was gone, or was no longer watched. */
  readonly endMs: number;
  readonly pods: readonly PodPlan[];
}

export interface PodPlan {
  /** The name in its manifest. */
  readonly name: string;
  readonly namespace: string;
  /** The rejection by the node. */
  readonly rejected?: { readonly atMs: number; readonly reason: string; readonly message: string };
  readonly sandboxes: readonly { readonly atMs: number; readonly attempt: number }[];
  readonly phases: readonly { readonly atMs: number; readonly phase: string; readonly reason?: string }[];
  /** The time of the first Ready, and the range of its jitter. */
  readonly firstReady?: Drawn;
  /** Every period in which it was ready, in order. */
  readonly ready: readonly Span[];
  /** Init containers first, in the order of the spec. */
  readonly containers: readonly ContainerPlan[];
  /** In the order of their first occurrence. */
  readonly events: readonly PlannedEvent[];
  /** The end of the pod after its deletion; absent if it was gone before, or if none of its containers was running. */
  readonly drain?: Drain;
}

/** `atMs` by the seed; the others with the shortest and the longest possible jitter of every draw. */
export interface Drawn {
  readonly atMs: number;
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** Without `toMs` it lasts until the end. */
export interface Span {
  readonly fromMs: number;
  readonly toMs?: number;
}

export interface ContainerPlan {
  readonly name: string;
  /** `sidecar` is an init container that is always restarted. */
  readonly kind: Exclude<ContainerKind, 'ephemeral'> | 'sidecar';
  readonly image: string;
  readonly pulls: readonly PulledImage[];
  readonly instances: readonly InstancePlan[];
  /** Every period in which it was ready, in order. */
  readonly ready: readonly Span[];
  /** By kind, for the probes that it has. */
  readonly probes: readonly ProbePlan[];
  /** The waits in order, each once, for any number of syncs meanwhile. */
  readonly backOffs: readonly BackOff[];
}

export interface PulledImage extends Span {
  readonly toMs: number;
  /** The reason of the failure. */
  readonly error?: string;
}

export interface InstancePlan {
  /** From 0; the restart count. */
  readonly attempt: number;
  readonly startedMs: number;
  /** When its startup probe succeeded. */
  readonly startupMs?: number;
  readonly firstReadyMs?: number;
  readonly endedMs?: number;
  readonly exitCode?: number;
  /** The cause of its end: itself, or the agent's reason for killing it. */
  readonly endedBy?: 'exit' | 'liveness' | 'startup' | 'deletion' | 'other';
  /** From the end of the instance before until its start. */
  readonly waitedMs?: number;
  /** The back-off before its start; absent for a start at once. */
  readonly backOff?: { readonly delayMs: number; readonly step: number; readonly steps: number };
}

export interface ProbePlan {
  readonly probe: ProbeName;
  readonly attempts: number;
  readonly failures: number;
  readonly firstMs?: number;
  readonly firstSuccessMs?: number;
  readonly firstFailureMs?: number;
  /** When this number of equal results in a row reached the threshold, with each change. */
  readonly verdicts: readonly { readonly atMs: number; readonly result: 'success' | 'failure' }[];
}

export interface BackOff {
  /** When the agent first put off its start or its pull. */
  readonly atMs: number;
  readonly subject: 'restart' | 'image-pull';
  readonly delayMs: number;
  readonly untilMs: number;
  /** From 1; the step of the table of doubled delays, and the number of its steps. */
  readonly step: number;
  readonly steps: number;
}

/** Equal texts about the same container, with their count. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly container?: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

export interface Drain {
  readonly atMs: number;
  readonly graceSeconds: number;
  /** In order. */
  readonly steps: readonly DrainStep[];
  /** From the deletion until the last container has stopped. Absent if it was no longer watched before that. */
  readonly stoppedAfterMs?: number;
  /** Until the pod was cleaned up. */
  readonly goneAfterMs?: number;
}

export interface DrainStep {
  readonly atMs: number;
  readonly container: string;
  /**
   * `pre-stop`: its hook begins. `stop-signal`: the runtime is asked to stop it, with this grace period. `exited`: by
   * itself or by the signal. `killed`: at the end of the grace period.
   */
  readonly what: 'pre-stop' | 'pre-stop-ended' | 'stop-signal' | 'exited' | 'killed';
  readonly graceSeconds?: number;
  readonly exitCode?: number;
}
