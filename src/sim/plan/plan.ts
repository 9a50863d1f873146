import type { ContainerKind } from '../../model/pod.js';
import type { ProbeName } from '../behaviour.js';

/**
 * What becomes of pods under assumed behaviours. Plain JSON; fields may be added, those that are there stay. Every field in `Ms` is in
 * milliseconds; those in `atMs`, `fromMs`, `toMs` and the like count from the start of the node, with the pods there already.
 */
export interface Plan {
  readonly version: 1;
  /** Of every draw: delays of the world, jitter of the agent. */
  readonly seed: string;
  /** When the pods that are still there are deleted, to show how they drain. */
  readonly forMs: number;
  /** When the last one of them was gone, or watching it was given up. */
  readonly endMs: number;
  readonly pods: readonly PodPlan[];
}

export interface PodPlan {
  /** As its manifest calls it. */
  readonly name: string;
  readonly namespace: string;
  /** The node does not take it in. */
  readonly rejected?: { readonly atMs: number; readonly reason: string; readonly message: string };
  readonly sandboxes: readonly { readonly atMs: number; readonly attempt: number }[];
  readonly phases: readonly { readonly atMs: number; readonly phase: string; readonly reason?: string }[];
  /** When it first was ready, and how much of that is drawn. */
  readonly firstReady?: Drawn;
  /** Every time in which it was ready, in order. */
  readonly ready: readonly Span[];
  /** Init containers first, in the order of the spec. */
  readonly containers: readonly ContainerPlan[];
  /** In the order in which they were first recorded. */
  readonly events: readonly PlannedEvent[];
  /** How it ended when it was deleted; absent when it was gone before, or nothing of it was running. */
  readonly drain?: Drain;
}

/** `atMs` by the seed; the others with the shortest and the longest that every draw of jitter can give. */
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
  /** Every time in which it was ready, in order. */
  readonly ready: readonly Span[];
  /** By kind, for those that it has. */
  readonly probes: readonly ProbePlan[];
  /** Waits, in order, each once, however often the agent looked meanwhile. */
  readonly backOffs: readonly BackOff[];
}

export interface PulledImage extends Span {
  readonly toMs: number;
  /** Why it failed. */
  readonly error?: string;
}

export interface InstancePlan {
  /** From 0; the restart count. */
  readonly attempt: number;
  readonly startedMs: number;
  /** When its startup probe has succeeded. */
  readonly startupMs?: number;
  readonly firstReadyMs?: number;
  readonly endedMs?: number;
  readonly exitCode?: number;
  /** Why it ended: by itself, or what the agent killed it for. */
  readonly endedBy?: 'exit' | 'liveness' | 'startup' | 'deletion' | 'other';
  /** From the end of the instance before until its start. */
  readonly waitedMs?: number;
  /** The back-off that it had to wait for; absent for a start at once. */
  readonly backOff?: { readonly delayMs: number; readonly step: number; readonly steps: number };
}

export interface ProbePlan {
  readonly probe: ProbeName;
  readonly attempts: number;
  readonly failures: number;
  readonly firstMs?: number;
  readonly firstSuccessMs?: number;
  readonly firstFailureMs?: number;
  /** When the threshold was reached with so many results in a row, as it changed. */
  readonly verdicts: readonly { readonly atMs: number; readonly result: 'success' | 'failure' }[];
}

export interface BackOff {
  /** When the agent first refused to start it, or to pull its image. */
  readonly atMs: number;
  readonly subject: 'restart' | 'image-pull';
  readonly delayMs: number;
  readonly untilMs: number;
  /** From 1; which delay of the doubling table it is, and how many there are. */
  readonly step: number;
  readonly steps: number;
}

/** The same words about the same container, however often. */
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
  /** In the order in which they happen. */
  readonly steps: readonly DrainStep[];
  /** From the deletion until the last container has stopped. Absent when they had not when watching was given up. */
  readonly stoppedAfterMs?: number;
  /** Until nothing was left to do for it. */
  readonly goneAfterMs?: number;
}

export interface DrainStep {
  readonly atMs: number;
  readonly container: string;
  /**
   * `pre-stop`: its hook begins. `stop-signal`: the runtime is told to stop it, with so much grace. `exited`: by itself or by the
   * signal. `killed`: at the end of the grace.
   */
  readonly what: 'pre-stop' | 'pre-stop-ended' | 'stop-signal' | 'exited' | 'killed';
  readonly graceSeconds?: number;
  readonly exitCode?: number;
}
