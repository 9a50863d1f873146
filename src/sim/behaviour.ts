import type { ProbeHandlerKind } from '../streams/ports.js';

/** How a container answers to the signal by which it is asked to stop. */
export type StopBehaviour =
  | { readonly kind: 'exits'; readonly afterMs: number; /** 143 unless given. */ readonly exitCode?: number }
  /** Until SIGKILL, at the end of the grace period: 137. */
  | { readonly kind: 'hangs' };

/** Which of the three probes of a container asks. */
export type ProbeName = 'startup' | 'readiness' | 'liveness';

/**
 * When probes of an instance fail that would succeed otherwise. Of several that match, the first counts. Whatever is left out
 * matches everything.
 */
export interface ProbeFailure {
  /** After the start of the instance; 0 unless given. Included. */
  readonly fromMs?: number;
  /** After the start of the instance; for good unless given. Not included. */
  readonly toMs?: number;
  readonly kind?: ProbeHandlerKind;
  readonly which?: ProbeName;
  /** Of `httpGet`, without its query. */
  readonly path?: string;
  readonly port?: number;
  /**
   * `fails` unless given: exit code 1, status 500, a refused connection, or NOT_SERVING. `refuses`: nobody listens.
   * `hangs`: no answer ever comes.
   */
  readonly how?: 'fails' | 'refuses' | 'hangs';
}

/** What a command in a container does that is no probe: a hook, for example. */
export interface CommandBehaviour {
  /** Matches every command whose words, joined by blanks, contain it. */
  readonly contains: string;
  /** 0 unless given. */
  readonly takesMs?: number;
  /** 0 unless given. */
  readonly exitCode?: number;
  readonly output?: string;
}

/** How one instance of a container behaves. Without anything, it runs at once, is ready at once, and stops when it is asked to. */
export interface InstanceBehaviour {
  /** So long StartContainer takes, besides the latency of the call. Milliseconds; 0 unless given. */
  readonly startsAfterMs?: number;
  /** StartContainer fails with this text, after `startsAfterMs`. The instance ends with exit code 128. */
  readonly startError?: string;
  /** After the start; runs until it is stopped unless given. 0 is at once. */
  readonly exitsAfterMs?: number;
  /** 0 unless given. */
  readonly exitCode?: number;
  /** It ends by `exitsAfterMs` for want of memory: reason OOMKilled, exit code 137 unless given. */
  readonly outOfMemory?: boolean;
  /** After the start; before it, connections are refused and `exec` probes fail. 0 unless given. */
  readonly readyAfterMs?: number;
  /** Ends at once with 143 unless given. */
  readonly onStop?: StopBehaviour;
  readonly probeFailures?: readonly ProbeFailure[];
  /** So long every answer to a probe takes. 0 unless given. */
  readonly answersAfterMs?: number;
  /** The first one that matches counts; every other command succeeds at once. */
  readonly commands?: readonly CommandBehaviour[];
  /** Written into the file for last words when it ends. */
  readonly terminationMessage?: string;
  /** 0 unless given. */
  readonly logBytesPerSecond?: number;
}

/** The instances of a container of one pod in the order in which they are created; the last one is repeated. */
export type ContainerBehaviour = readonly InstanceBehaviour[];

export interface ImageBehaviour {
  /** So long a pull takes, whether or not it succeeds. 1000 unless given. */
  readonly pullMs?: number;
  /** So many pulls fail at first, with this text. `times` is for good unless given. */
  readonly pullError?: { readonly message: string; readonly times?: number };
  /** 50 MB unless given. */
  readonly sizeBytes?: number;
  /** Is on the node from the beginning. */
  readonly isPresent?: boolean;
}

/** Milliseconds, both included. */
export interface LatencyRange {
  readonly min: number;
  readonly max: number;
}

/** How everything on a node behaves that is not the agent. Plain data: can be written as JSON. */
export interface NodeBehaviours {
  /**
   * By `<pod>/<container>`, or by `<container>`, or `*` for every other. The pod is named by its UID, or by the API's name, or, for a
   * static pod, without the name of the node at its end.
   */
  readonly containers?: Readonly<Record<string, ContainerBehaviour>>;
  /** By the name in the pod, whether or not it is complete, or `*` for every other. */
  readonly images?: Readonly<Record<string, ImageBehaviour>>;
  /** A call of the runtime, there and back together; 1 to 5 unless given. */
  readonly callMs?: LatencyRange;
  /** Making a sandbox, besides the latency of the call; 0 unless given. */
  readonly sandboxMs?: LatencyRange;
  /** A call of the node's file system; 0 to 1 unless given. */
  readonly fileMs?: LatencyRange;
  /** A packet, there and back; 0 to 1 unless given. */
  readonly networkMs?: LatencyRange;
  /** From something happening to its event; 0 to 2 unless given. */
  readonly eventMs?: LatencyRange;
  /** The runtime has no stream of container events. */
  readonly tellsNoEvents?: boolean;
  /**
   * StopContainer goes on to SIGKILL when its caller has gone, as in CRI-O. Otherwise only the stop signal was sent, as in
   * containerd.
   */
  readonly stopOutlivesCaller?: boolean;
  /**
   * How likely it is, from 0 to 1, that RunPodSandbox and StartContainer are broken off when their caller has gone, as containerd may
   * do: of the sandbox nothing is left, and the container either was never started or ends as one that cannot start. 0 unless given:
   * they go on.
   */
  readonly breaksOffGivenUp?: number;
}
