import type { PodRef } from '../pod/pod.js';

/** The id of a journal entry: `<run of the agent>-<sequence number>`. */
export type JournalId = string;

/** The next run of a pod's worker, and its time. Times are Unix milliseconds. */
export type NextStep =
  | { readonly kind: 'now' }
  | { readonly kind: 'resync'; readonly dueAt: number }
  | { readonly kind: 'retry'; readonly dueAt: number; readonly reason: string }
  | { readonly kind: 'nothing'; readonly reason: string };

/**
 * An entry, by kind. Inputs come from outside the loop, decisions are results of pure functions, effects changed the
 * world, outcomes end a run of a worker.
 */
export type JournalEvent =
  // Inputs
  | { readonly kind: 'agent-started'; readonly version: string; readonly node: string }
  | { readonly kind: 'agent-stopping'; readonly reason: string }
  /** The number of entries before this one that were lost, because the journal could not be written. */
  | { readonly kind: 'entries-dropped'; readonly count: number }
  | {
      readonly kind: 'config';
      readonly source: string;
      readonly op: 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE' | 'REFRESH';
      /** The file or URL of the pod, if the source knows it. */
      readonly from?: string;
      /** The grace period of a pod that is deleted in the API. */
      readonly graceSeconds?: number;
    }
  | {
      readonly kind: 'config-problem';
      readonly source: string;
      readonly problem: string;
      /** The file or URL that cannot be used. */
      readonly from?: string;
      /** Adds to the last problem of the same place instead of replacing it. */
      readonly continues?: true;
      /** Pods that were read from there before, and stay unchanged. */
      readonly keeps?: readonly PodRef[];
    }
  /** The first set of a source was handled: pods that it did not contain are not desired. */
  | { readonly kind: 'source-heard'; readonly source: string }
  /** The earlier `config-problem` of the same `source` and `from` is over. */
  | { readonly kind: 'config-recovered'; readonly source: string; readonly from?: string }
  | {
      readonly kind: 'runtime-changed';
      readonly change: RuntimeChange;
      readonly containerId: string;
      readonly exitCode?: number;
      /** The reason of the end in the runtime: `OOMKilled`, `Error`, `Completed`. */
      readonly reason?: string;
      /** The end of the termination message, from the runtime and the container. */
      readonly message?: string;
      /** The runtime's time of the start or end; an agent that has just started receives the event much later. */
      readonly happenedAt?: number;
    }
  /** The probes of a container have a new verdict. */
  | {
      readonly kind: 'probe';
      readonly probe: 'startup' | 'readiness' | 'liveness';
      readonly result: 'success' | 'failure';
      /** The beginning of the last probe's output. */
      readonly output?: string;
    }
  /** The runtime became usable or unusable; nothing is synced meanwhile. About no pod. */
  | { readonly kind: 'runtime-health'; readonly healthy: boolean; readonly message?: string }
  | { readonly kind: 'work-due' }
  | { readonly kind: 'housekeeping'; readonly finding: string }
  | { readonly kind: 'kill-requested'; readonly reason: string; readonly graceSeconds?: number }
  // Decisions
  | {
      readonly kind: 'admission-rejected';
      readonly reason: string;
      readonly message: string;
      /** Details that the kubelet's message leaves out, such as the pod that has a port. */
      readonly detail?: string;
    }
  /** A pod was admitted and waits until these have stopped; `missing` is what it lacks if pods are stopped for it, such as `cpu 150m`. */
  | { readonly kind: 'room-awaited'; readonly pods: readonly PodRef[]; readonly missing?: string }
  /** A pod asks for other amounts than it has, and gets them now, or not; with the message of its condition. */
  | {
      readonly kind: 'resize';
      readonly trigger: string;
      readonly decision: 'allocated' | 'deferred' | 'infeasible';
      readonly message?: string;
    }
  /** A static pod waits until another one of the same full name is gone; it is checked again at `retryAt`. */
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
      /** The delayed action: starting the container again, or pulling its image again. */
      readonly subject: 'restart' | 'image-pull';
      /** The exit code of the ended instance; absent if unknown. */
      readonly exitCode?: number;
      readonly delayMs: number;
      /** When the next start is allowed. */
      readonly until: number;
      /** The 1-based position of `delayMs` in the table of doubled delays, and the length of that table. */
      readonly step: number;
      readonly steps: number;
      /** Milliseconds of running after which the table starts over. */
      readonly resetAfterMs: number;
      /** The step was derived from the runtime's state: this run of the agent had not started the container. */
      readonly from?: 'runtime';
    }
  /**
   * A container starts again without a wait, though it was restarted `restarts` times before: neither this run of the
   * agent nor the runtime shows when it ended. Older versions have written that.
   */
  | { readonly kind: 'back-off-unknown'; readonly restarts: number }
  /** A container starts without a wait, although it has ended before: that end is no crash. `because` is half a sentence after "its end". */
  | { readonly kind: 'end-not-counted'; readonly exitCode?: number; readonly because: string }
  // Effects
  | {
      readonly kind: 'call';
      /** A CRI method, such as `StartContainer`, or `HttpGet`. */
      readonly call: string;
      /** The image of an image call, scheme and host of an HTTP call, else the id of the call's object. */
      readonly target?: string;
      readonly durationMs: number;
      readonly error?: string;
    }
  /** A pending call takes long. Its `call` entry follows when it has ended. */
  | {
      readonly kind: 'call-slow';
      /** As in `call`; absent while the pod is read from the runtime. */
      readonly call?: string;
      readonly target?: string;
      readonly waitedMs: number;
    }
  /** A volume of the pod was set up, brought up to date or taken down, or the attempt failed. */
  | {
      readonly kind: 'volume';
      /** Its name in the pod. */
      readonly volume: string;
      readonly step: 'mount' | 'update' | 'unmount';
      readonly durationMs: number;
      readonly error?: string;
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

/** The event names of PLEG; a change without a name of its own is `ContainerChanged`. */
export type RuntimeChange = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'ContainerChanged' | 'PodSync';

/** One action of `computePodActions`, with its reason in plain words. */
export interface PlannedAction {
  readonly action:
    'kill-pod' | 'create-sandbox' | 'start-init' | 'start' | 'start-ephemeral' | 'kill' | 'reset' | 'update' | 'keep';
  readonly container?: string;
  readonly because: string;
}

/** The pod of an entry, and its causes. */
export interface JournalContext {
  /**
   * The entries that caused this one. An input has none; a decision names its inputs, an effect the decision, an
   * outcome the `sync-started` that it ends. The chain of `why` follows them.
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
