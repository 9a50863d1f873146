import type { CriErrorCode } from '../../model/cri-error.js';

/** A stretch of virtual time, in milliseconds since the beginning of the history. */
export interface Stretch {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Which of the things that come by meet a fault. */
interface Chance extends Stretch {
  /** Of 1. */
  readonly rate: number;
}

/** Calls of the runtime, by the names of their CRI methods; of any method unless given. */
interface OfCalls extends Chance {
  readonly calls?: readonly string[];
}

/** What a connection to the runtime does to the calls that go over it. */
export type CallFault =
  /** The request is under way for a while. A busy machine, or a runtime that lets requests queue. */
  | (OfCalls & { readonly kind: 'late-request'; readonly minMs: number; readonly maxMs: number })
  /** The runtime has answered, but the answer is under way for a while, and is old when it comes. */
  | (OfCalls & { readonly kind: 'late-reply'; readonly minMs: number; readonly maxMs: number })
  /** The runtime refuses, and nothing has happened. */
  | (OfCalls & { readonly kind: 'refused'; readonly code: CriErrorCode })
  /** The runtime has done it, but what the agent hears is an error, as when the connection breaks at the wrong moment. */
  | (OfCalls & { readonly kind: 'reply-lost'; readonly code: CriErrorCode })
  /** Nothing comes back until the deadline of the call, whether the runtime has done it or has never heard of it. */
  | (OfCalls & { readonly kind: 'hangs'; readonly isDone: boolean })
  /** What the agent gives up, the runtime goes on with: no runtime looks at a cancelled request all the time. */
  | (OfCalls & { readonly kind: 'cancel-unheard' });

/** What happens to the runtime's events. Neither containerd nor CRI-O promises that an event arrives, or in which order. */
export type EventFault =
  | (Chance & { readonly kind: 'event-lost' | 'event-doubled' })
  /** Each event has a delay of its own, so that later ones overtake. */
  | (Chance & { readonly kind: 'event-late'; readonly maxMs: number })
  /** The stream breaks. What happens until the agent listens again is never told. */
  | { readonly kind: 'events-break'; readonly atMs: number };

/** A full or failing disk, as Node.js reports it. */
export type DiskFault = Chance & { readonly kind: 'disk-fails'; readonly code: 'EIO' | 'ENOSPC' | 'EROFS' };

/** What lies between the agent and the servers in the pods. */
export type NetworkFault = Chance &
  (
    | { readonly kind: 'network-slow'; readonly minMs: number; readonly maxMs: number }
    /** Packets go nowhere: whoever asked hears nothing. */
    | { readonly kind: 'network-silent' }
  );

/** What a source does beside saying what it wants. */
export type SourceFault =
  /** It fails, and says what it wants when it is listened to again. */
  | { readonly kind: 'source-breaks'; readonly source: string; readonly atMs: number }
  /** It says again what it said last. */
  | { readonly kind: 'source-repeats'; readonly source: string; readonly atMs: number }
  /** Whoever begins to listen to it hears nothing for a while, as of an API server that is far away. */
  | (Stretch & { readonly kind: 'source-late'; readonly source: string; readonly lateMs: number });

/** What the API server, or the way to it, does to requests and to watches that are opened. */
export type ApiCallFault = Chance &
  (
    | { readonly kind: 'api-late'; readonly minMs: number; readonly maxMs: number }
    /** The server says no, and nothing has happened. */
    | { readonly kind: 'api-refused'; readonly code: number; readonly retryAfterSeconds?: number }
    /** It is done, but the connection breaks before the answer has come. */
    | { readonly kind: 'api-reply-lost' }
    /** Nothing comes back, whether it is done or not. */
    | { readonly kind: 'api-silent'; readonly isDone: boolean }
    /** Only of watches: the version that they name is too old, whatever it is. */
    | { readonly kind: 'api-gone' }
  );

/** What happens to the way to the API server, while the server is well and others go on using it. */
export type ApiWayFault =
  | (Stretch & { readonly kind: 'api-cut'; readonly how: 'reset' | 'silent' })
  | { readonly kind: 'api-watches-break'; readonly atMs: number; readonly how: 'reset' | 'silent' };

/** What the API server goes through. */
export type ApiServerFault =
  /** Its data stays, the versions of the past are forgotten. */
  | { readonly kind: 'api-restarts'; readonly atMs: number; readonly downMs: number }
  /** The versions of the past are forgotten, and watches break. */
  | { readonly kind: 'api-forgets'; readonly atMs: number };

/** The agent's own end. Only what is on disk survives it. */
export type AgentFault = { readonly kind: 'agent-killed'; readonly downMs: number } & (
  | { readonly atMs: number }
  /**
   * At the n-th thing that the agent asks of the world, counted since the beginning of the history: as soon as it has asked,
   * or just before it would hear the answer.
   */
  | { readonly atStep: number; readonly when: 'asked' | 'answered' }
);

/** What else the machine does. */
export type MachineFault =
  /** The runtime is away for a while; containers run on, calls under way and the stream of events break. */
  | { readonly kind: 'runtime-restarts'; readonly atMs: number; readonly downMs: number }
  /** Something that runs is ended from outside, such as for want of memory: by its place among all that run. */
  | { readonly kind: 'container-dies' | 'sandbox-dies'; readonly atMs: number; readonly which: number }
  /** The clock of the wall is set. Timers do not notice. */
  | { readonly kind: 'clock-jumps'; readonly atMs: number; readonly byMs: number };

/**
 * Something that goes wrong, which every agent has to live with: each kind is what a real runtime, network, disk or operator
 * does. None is a lie: what the runtime says was true at some moment between the question and the answer.
 */
export type Fault =
  | CallFault
  | EventFault
  | DiskFault
  | NetworkFault
  | SourceFault
  | ApiCallFault
  | ApiWayFault
  | ApiServerFault
  | AgentFault
  | MachineFault;

export type FaultKind = Fault['kind'];
