import type { ShutdownGroup } from '../../../model/shutdown/shutdown-groups.js';
import type { HistoryEviction } from '../histories/history.js';
import type { WorldEvent } from '../world/world-event.js';
import type { WorldTruth } from './world-truth.js';

/** A finding about the last event, or about the end of the run. */
export interface Finding {
  /** The UID of the pod. */
  readonly uid?: string;
  readonly container?: string;
  /** The observed fact, and the expected one. */
  readonly message: string;
}

/** An event that must never happen, or one that is missing. */
export interface Violation extends Finding {
  /** The name of the invariant. */
  readonly invariant: string;
  /** Virtual milliseconds. */
  readonly at: number;
}

/** The end of a run of a world. */
export interface EndOfRun {
  readonly at: number;
  /**
   * Since when nothing has disturbed the node: no fault was active, no call slower than normal, every source constant,
   * and one agent alive. The time from then to the end is the quiet tail, in which every desired state has to be
   * reached.
   */
  readonly quietSince: number;
}

/** Watches one world from its beginning. It receives every event, so it has to be cheap. */
export interface Monitor {
  /** Returns the violations of this event, before the truth changes. */
  readonly on?: (event: WorldEvent) => readonly Finding[] | undefined;
  /** Returns the missing events at the end of the run. */
  readonly end?: (run: EndOfRun) => readonly Finding[];
}

/** The settings of a world's agent on which rules depend. */
export interface AgentSettings {
  readonly syncFrequencyMs: number;
  readonly maxRestartBackOffMs: number;
  /** If true, changes without an event may go unseen until the next relist, which is minutes away. */
  readonly eventedPleg: boolean;
  /** The groups of pods at a shutdown of the machine, lowest priority first. */
  readonly shutdownGroups: readonly ShutdownGroup[];
  /** What pods take, and when they are evicted. */
  readonly eviction?: HistoryEviction;
  /** The number of pods for which the node has room. */
  readonly podCapacity: number;
  /** The time without use after which an image is removed. */
  readonly imageMaxAgeMs: number;
}

/** A rule that holds in every world, with any faults. */
export interface Invariant {
  /** A few words in kebab-case. */
  readonly name: string;
  /** One sentence. */
  readonly rule: string;
  /** The file of the kubelet, or the page of these docs, that the rule comes from. */
  readonly source: string;
  readonly watch: (truth: WorldTruth, settings: AgentSettings) => Monitor;
}
