import type { CriErrorCode } from '../../../model/cri/cri-error.js';

/** A period of virtual time, in milliseconds since the beginning of the history. */
export interface Stretch {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The calls or events that meet a fault. */
interface Chance extends Stretch {
  /** A probability. */
  readonly rate: number;
}

/** Calls of the runtime, by the names of their CRI methods; of every method by default. */
interface OfCalls extends Chance {
  readonly calls?: readonly string[];
}

/** A fault of the connection to the runtime. */
export type CallFault =
  /** The request is delayed: a busy machine, or a runtime that queues requests. */
  | (OfCalls & { readonly kind: 'late-request'; readonly minMs: number; readonly maxMs: number })
  /** The runtime has answered, but the reply is delayed, and old when it comes. */
  | (OfCalls & { readonly kind: 'late-reply'; readonly minMs: number; readonly maxMs: number })
  /** The runtime refuses, and nothing has happened. */
  | (OfCalls & { readonly kind: 'refused'; readonly code: CriErrorCode })
  /** The runtime has done it, but the agent receives an error, as when the connection breaks at the wrong moment. */
  | (OfCalls & { readonly kind: 'reply-lost'; readonly code: CriErrorCode })
  /** No reply comes until the deadline of the call, whether the runtime has received it or not. */
  | (OfCalls & { readonly kind: 'hangs'; readonly isDone: boolean })
  /** The runtime goes on with calls that the agent cancels: no runtime checks for cancellation all the time. */
  | (OfCalls & { readonly kind: 'cancel-unheard' });

/** A fault of the runtime's events. Neither containerd nor CRI-O promises that an event arrives, or in which order. */
export type EventFault =
  | (Chance & { readonly kind: 'event-lost' | 'event-doubled' })
  /** Each event has a delay of its own, so that later ones overtake. */
  | (Chance & { readonly kind: 'event-late'; readonly maxMs: number })
  /** The stream breaks. Events until the next subscription are lost. */
  | { readonly kind: 'events-break'; readonly atMs: number };

/** A full or failing disk, as Node.js reports it. */
export type DiskFault = Chance & { readonly kind: 'disk-fails'; readonly code: 'EIO' | 'ENOSPC' | 'EROFS' };

/** A fault between the agent and the servers in the pods. */
export type NetworkFault = Chance &
  (
    | { readonly kind: 'network-slow'; readonly minMs: number; readonly maxMs: number }
    /** Packets are dropped: the client receives no reply. */
    | { readonly kind: 'network-silent' }
  );

/** A fault of a source, beside its pods. */
export type SourceFault =
  /** The source fails, and emits its pods to the next subscription. */
  | { readonly kind: 'source-breaks'; readonly source: string; readonly atMs: number }
  /** The source emits its last set again. */
  | { readonly kind: 'source-repeats'; readonly source: string; readonly atMs: number }
  /** A new subscription receives nothing for a while, as from an API server that is far away. */
  | (Stretch & { readonly kind: 'source-late'; readonly source: string; readonly lateMs: number });

/** A fault of the API server, or of the way to it, for requests and new watches. */
export type ApiCallFault = Chance &
  (
    | { readonly kind: 'api-late'; readonly minMs: number; readonly maxMs: number }
    /** The server refuses, and nothing has happened. */
    | { readonly kind: 'api-refused'; readonly code: number; readonly retryAfterSeconds?: number }
    /** The request is carried out, but the connection breaks before the reply arrives. */
    | { readonly kind: 'api-reply-lost' }
    /** No reply comes, whether the request is carried out or not. */
    | { readonly kind: 'api-silent'; readonly isDone: boolean }
    /** Only for watches: the version that they name counts as too old. */
    | { readonly kind: 'api-gone' }
  );

/** A fault of the way to the API server, while other clients reach it. */
export type ApiWayFault =
  | (Stretch & { readonly kind: 'api-cut'; readonly how: 'reset' | 'silent' })
  | { readonly kind: 'api-watches-break'; readonly atMs: number; readonly how: 'reset' | 'silent' };

/** An event of the API server. */
export type ApiServerFault =
  /** Its data stays, old versions are forgotten. */
  | { readonly kind: 'api-restarts'; readonly atMs: number; readonly downMs: number }
  /** Old versions are forgotten, and watches break. */
  | { readonly kind: 'api-forgets'; readonly atMs: number };

/** The end of the agent. Only its files survive. */
export type AgentFault = { readonly kind: 'agent-killed'; readonly downMs: number } & (
  | { readonly atMs: number }
  /**
   * At the n-th call of the agent, counted since the beginning of the history: right after the call, or just before its
   * reply arrives.
   */
  | { readonly atStep: number; readonly when: 'asked' | 'answered' }
);

/**
 * The machine loses its power, and boots after `downMs`: no process is left, memory is empty, and `clockByMs` is added to the wall
 * clock. Writes of the last seconds are lost that were not synced.
 */
export type PowerFault = {
  readonly kind: 'power-lost';
  readonly downMs: number;
  /** The runtime forgets starts and ends of containers that it has recorded within this time before. */
  readonly forgetsMs: number;
  /** How containers show that were created within this time, if their status is lost altogether. */
  readonly newShow?: 'unknown' | 'gone';
  readonly clockByMs?: number;
} & ({ readonly atMs: number } | AtWrite);

/** At the n-th write of the agent to the disk, counted since the beginning of the history. */
interface AtWrite {
  readonly atWrite: number;
  /** Before the write, or after it but before it is durable. */
  readonly when: 'before' | 'unsynced';
}

/**
 * The machine is asked to shut down. It is off when the agent has released its lock, and after `maxDelayMs` at the latest; nothing that was written is
 * lost. It boots `downMs` later.
 */
export interface ShutdownFault {
  readonly kind: 'machine-shuts-down';
  readonly atMs: number;
  readonly maxDelayMs: number;
  readonly downMs: number;
}

/** Something beside the pods takes a resource of the node: `amount` of 1,000 units. */
export type ResourceFault = Stretch & {
  readonly kind: 'resource-fills';
  readonly resource: 'memory' | 'disk' | 'pids';
  readonly amount: number;
};

/** Other events of the machine. */
export type MachineFault =
  /** The runtime is away for a while; containers run on, pending calls and the stream of events break. */
  | { readonly kind: 'runtime-restarts'; readonly atMs: number; readonly downMs: number }
  /** A running container is ended from outside, such as by the OOM killer: by its position among all running ones. */
  | { readonly kind: 'container-dies' | 'sandbox-dies'; readonly atMs: number; readonly which: number }
  /** The wall clock is set. Timers are not affected. */
  | { readonly kind: 'clock-jumps'; readonly atMs: number; readonly byMs: number }
  | ShutdownFault
  | ResourceFault
  | ClockFault;

/** A fault of wall clocks: of the machine, of one of its processes, or of the API server. Timers are not affected. */
export type ClockFault =
  /** The clock is set. At 0 it was wrong before the agent started. */
  | {
      readonly kind: 'clock-steps';
      readonly whose: 'machine' | 'agent' | 'runtime' | 'api-server';
      readonly atMs: number;
      readonly byMs: number;
    }
  /** The clock has `rate` seconds in a second. */
  | (Stretch & { readonly kind: 'clock-drifts'; readonly whose: 'agent' | 'runtime'; readonly rate: number });

/**
 * A fault, with which every agent has to cope: each kind is one of a real runtime, network, disk or operator. A reply
 * is never false: it was true at some moment between the request and the reply.
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
  | PowerFault
  | MachineFault;

export type FaultKind = Fault['kind'];
