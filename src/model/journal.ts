import type { PodRef } from './pod.js';

/** Names one journal entry for good: `<run of the agent>-<sequence number>`. */
export type JournalId = string;

/** What a pod's worker does next, and when. Times are Unix milliseconds. */
export type NextStep =
  | { readonly kind: 'now' }
  | { readonly kind: 'resync'; readonly dueAt: number }
  | { readonly kind: 'retry'; readonly dueAt: number; readonly reason: string }
  | { readonly kind: 'nothing'; readonly reason: string };

/**
 * What happened, by kind. Inputs come from outside the loop, decisions are what pure functions said, effects touched the
 * world, outcomes end a run of a worker.
 */
export type JournalEvent =
  // Inputs
  | { readonly kind: 'agent-started'; readonly version: string; readonly node: string }
  | { readonly kind: 'agent-stopping'; readonly reason: string }
  /** So many entries before this one were lost, because the journal could not be written. */
  | { readonly kind: 'entries-dropped'; readonly count: number }
  | {
      readonly kind: 'config';
      readonly source: string;
      readonly op: 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE';
      /** The file or URL that the pod stands in, where the source knows it. */
      readonly from?: string;
    }
  | {
      readonly kind: 'config-problem';
      readonly source: string;
      readonly problem: string;
      /** The file or URL that cannot be used. */
      readonly from?: string;
      /** Pods that were read from there before, and that are left as they are. */
      readonly keeps?: readonly PodRef[];
    }
  /** What an earlier `config-problem` of the same `source` and `from` said no longer holds. */
  | { readonly kind: 'config-recovered'; readonly source: string; readonly from?: string }
  | {
      readonly kind: 'runtime-changed';
      readonly change: RuntimeChange;
      readonly containerId: string;
      readonly exitCode?: number;
      /** Why it ended, as the runtime says it: `OOMKilled`, `Error`, `Completed`. */
      readonly reason?: string;
      /** The end of what the runtime and the container itself said of it. */
      readonly message?: string;
    }
  /** Probes of a container have come to another verdict. */
  | {
      readonly kind: 'probe';
      readonly probe: 'startup' | 'readiness' | 'liveness';
      readonly result: 'success' | 'failure';
      /** The beginning of what the last one heard. */
      readonly output?: string;
    }
  /** The runtime became usable or unusable; nothing is synchronised meanwhile. About no pod. */
  | { readonly kind: 'runtime-health'; readonly healthy: boolean; readonly message?: string }
  | { readonly kind: 'work-due' }
  | { readonly kind: 'housekeeping'; readonly finding: string }
  | { readonly kind: 'kill-requested'; readonly reason: string; readonly graceSeconds?: number }
  // Decisions
  | { readonly kind: 'admission-rejected'; readonly reason: string; readonly message: string }
  /** A static pod waits for another one of the same full name to be gone; it is looked at again at `retryAt`. */
  | { readonly kind: 'start-delayed'; readonly holder: PodRef; readonly retryAt: number }
  | {
      readonly kind: 'sync-started';
      readonly work: 'sync' | 'terminating' | 'terminated';
      readonly trigger: string;
      readonly graceSeconds?: number;
    }
  | { readonly kind: 'actions'; readonly actions: readonly PlannedAction[] }
  | {
      readonly kind: 'back-off';
      /** What is put off: starting the container again, or pulling its image again. */
      readonly subject: 'restart' | 'image-pull';
      /** Of the instance that ended; absent when it could not be known. */
      readonly exitCode?: number;
      readonly delayMs: number;
      /** When the next start is allowed. */
      readonly until: number;
      /** 1-based position of `delayMs` in the doubling table, and the length of that table. */
      readonly step: number;
      readonly steps: number;
      /** Milliseconds of running after which the table starts over. */
      readonly resetAfterMs: number;
    }
  // Effects
  | {
      readonly kind: 'call';
      /** A CRI method, such as `StartContainer`, or `HttpGet`. */
      readonly call: string;
      /** The image of an image call, scheme and host of an HTTP call, else the id that the call is about. */
      readonly target?: string;
      readonly durationMs: number;
      readonly error?: string;
    }
  /** A call is under way and takes long. Its `call` entry follows when it has ended. */
  | {
      readonly kind: 'call-slow';
      /** As in `call`; absent while the pod is read from the runtime. */
      readonly call?: string;
      readonly target?: string;
      readonly waitedMs: number;
    }
  | { readonly kind: 'event'; readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }
  | { readonly kind: 'phase'; readonly from?: string; readonly to: string; readonly reason?: string }
  // Outcomes
  | {
      readonly kind: 'sync-ended';
      readonly work: 'sync' | 'terminating' | 'terminated';
      readonly error?: string;
      readonly next: NextStep;
    }
  | { readonly kind: 'forgotten' };

/** The event names of PLEG; a change that has no name of its own is `ContainerChanged`. */
export type RuntimeChange = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'ContainerChanged' | 'PodSync';

/** One line of what `computePodActions` decided, with its reason in plain words. */
export interface PlannedAction {
  readonly action:
    'kill-pod' | 'create-sandbox' | 'start-init' | 'start' | 'start-ephemeral' | 'kill' | 'reset' | 'keep';
  readonly container?: string;
  readonly because: string;
}

/** Whom an entry is about and what led to it. */
export interface JournalContext {
  /**
   * The entries without which this one would not be. An input has none; a decision names its inputs, an effect the decision,
   * an outcome the `sync-started` that it ends. The chain of `why` follows them.
   */
  readonly causes: readonly JournalId[];
  readonly pod?: PodRef;
  readonly container?: string;
}

export type JournalRecord = JournalEvent & JournalContext;

/** A record as it stands in the journal: one JSON line. */
export type JournalEntry = JournalRecord & {
  readonly id: JournalId;
  /** Unix milliseconds of the agent's clock. */
  readonly at: number;
};
