import type { ProbeHandlerKind } from '../../../streams/ports/probe-handlers.js';

/** The reaction of a container to the stop signal. */
export type StopBehaviour =
  | { readonly kind: 'exits'; readonly afterMs: number; /** 143 by default. */ readonly exitCode?: number }
  /** Until SIGKILL, at the end of the grace period: 137. */
  | { readonly kind: 'hangs' };

/** The kind of a probe. */
export type ProbeName = 'startup' | 'readiness' | 'liveness';

/** When probes of an instance fail. The first matching entry is used. An absent field matches everything. */
export interface ProbeFailure {
  /** After the start of the instance; 0 by default. Inclusive. */
  readonly fromMs?: number;
  /** After the start of the instance; for good by default. Exclusive. */
  readonly toMs?: number;
  readonly kind?: ProbeHandlerKind;
  readonly which?: ProbeName;
  /** The path of an `httpGet`, without its query. */
  readonly path?: string;
  readonly port?: number;
  /**
   * `fails` by default: exit code 1, status 500, a refused connection, or NOT_SERVING. `refuses`: no process listens.
   * `hangs`: no reply ever comes.
   */
  readonly how?: 'fails' | 'refuses' | 'hangs';
}

/** The behaviour of a command in a container other than a probe: a hook, for example. */
export interface CommandBehaviour {
  /** Matches every command whose words, joined by blanks, contain it. */
  readonly contains: string;
  /** 0 by default. */
  readonly takesMs?: number;
  /** 0 by default. */
  readonly exitCode?: number;
  readonly output?: string;
}

/**
 * The behaviour of one instance of a container. By default it runs at once, is ready at once, and stops at the stop
 * signal.
 */
export interface InstanceBehaviour {
  /** The duration of StartContainer, besides the latency of the call. Milliseconds; 0 by default. */
  readonly startsAfterMs?: number;
  /** StartContainer fails with this text, after `startsAfterMs`. The instance ends with exit code 128. */
  readonly startError?: string;
  /** After the start; by default it runs until it is stopped. 0 is at once. */
  readonly exitsAfterMs?: number;
  /** 0 by default. */
  readonly exitCode?: number;
  /** Its end by `exitsAfterMs` is one by the OOM killer: reason OOMKilled, exit code 137 by default. */
  readonly outOfMemory?: boolean;
  /** After the start; before it, connections are refused and `exec` probes fail. 0 by default. */
  readonly readyAfterMs?: number;
  /** Ends at once with 143 by default. */
  readonly onStop?: StopBehaviour;
  readonly probeFailures?: readonly ProbeFailure[];
  /** The duration of every probe. 0 by default. */
  readonly answersAfterMs?: number;
  /** The first matching entry is used; every other command succeeds at once. */
  readonly commands?: readonly CommandBehaviour[];
  /** Texts that it writes into files of its volumes when it starts, by absolute path in the container. */
  readonly writes?: Readonly<Record<string, string>>;
  /** Written into the file for the termination message when it ends. */
  readonly terminationMessage?: string;
  /** 0 by default. */
  readonly logBytesPerSecond?: number;
}

/** The instances of a container of one pod in the order of creation; the last one is repeated. */
export type ContainerBehaviour = readonly InstanceBehaviour[];

/** One pull of an image. */
export interface PullBehaviour {
  readonly takesMs: number;
  /** The text with which it fails. */
  readonly error?: string;
}

export interface ImageBehaviour {
  /** The duration of a pull, successful or not. 1000 by default. */
  readonly pullMs?: number;
  /** The number of first pulls that fail, with this text. `times` is for good by default. */
  readonly pullError?: { readonly message: string; readonly times?: number };
  /** Its pulls in order, the last one repeated; instead of `pullMs` and `pullError`. */
  readonly pulls?: readonly PullBehaviour[];
  /** 50 MB by default. */
  readonly sizeBytes?: number;
  /** The image is on the node from the beginning. */
  readonly isPresent?: boolean;
}

/** Milliseconds, both inclusive. */
export interface LatencyRange {
  readonly min: number;
  readonly max: number;
}

/** The behaviour of everything on a node except the agent. Plain data: can be written as JSON. */
export interface NodeBehaviours {
  /**
   * By `<pod>/<container>`, or by `<container>`, or `*` for every other. The pod is named by its UID, or by the API's
   * name, or, for a static pod, without the name of the node at its end.
   */
  readonly containers?: Readonly<Record<string, ContainerBehaviour>>;
  /** By the name in the pod, complete or not, or `*` for every other. */
  readonly images?: Readonly<Record<string, ImageBehaviour>>;
  /** The round trip of a call of the runtime; 1 to 5 by default. */
  readonly callMs?: LatencyRange;
  /** The duration of creating a sandbox, besides the latency of the call; 0 by default. */
  readonly sandboxMs?: LatencyRange;
  /** A call of the node's file system; 0 to 1 by default. */
  readonly fileMs?: LatencyRange;
  /** The round trip of a packet; 0 to 1 by default. */
  readonly networkMs?: LatencyRange;
  /** The delay of an event; 0 to 2 by default. */
  readonly eventMs?: LatencyRange;
  /** The runtime has no stream of container events. */
  readonly tellsNoEvents?: boolean;
  /**
   * StopContainer goes on to SIGKILL after its caller has cancelled, as in CRI-O. Otherwise only the stop signal was
   * sent, as in containerd.
   */
  readonly stopOutlivesCaller?: boolean;
  /**
   * The probability, from 0 to 1, that a cancellation by the caller stops RunPodSandbox and StartContainer, as
   * containerd may do: the sandbox is removed, and the container either was never started or ends as one that cannot
   * start. 0 by default: they go on.
   */
  readonly breaksOffGivenUp?: number;
}
