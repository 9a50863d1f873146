import type { WorldEvent } from '../world-event.js';
import type { WorldTruth } from './world-truth.js';

/** What is wrong with what has just happened, or with how it ended. */
export interface Finding {
  /** UID of the pod it is about. */
  readonly uid?: string;
  readonly container?: string;
  /** What was seen, and what the rule expects instead. */
  readonly message: string;
}

/** Something happened that must never happen, or did not happen that has to. */
export interface Violation extends Finding {
  /** Of the invariant. */
  readonly invariant: string;
  /** Virtual milliseconds. */
  readonly at: number;
}

/** How a run of a world ended. */
export interface EndOfRun {
  readonly at: number;
  /**
   * Since when nothing has disturbed the node: no fault was active, no call slower than its normal self, every source said
   * the same, and one agent lived. The end less this is the quiet tail, in which everything wanted has to come true.
   */
  readonly quietSince: number;
}

/** Watches one world from its beginning. Cheap: it sees everything that happens. */
export interface Monitor {
  /** What is wrong with this event, while the truth is still as it was before. */
  readonly on?: (event: WorldEvent) => readonly Finding[] | undefined;
  /** What should have happened by the end of the run. */
  readonly end?: (run: EndOfRun) => readonly Finding[];
}

/** How the agent of a world is set up, as far as rules depend on it. */
export interface AgentSettings {
  readonly syncFrequencyMs: number;
  readonly maxRestartBackOffMs: number;
  /** Then what no event tells of may go unseen until the next relist, which is minutes away. */
  readonly eventedPleg: boolean;
}

/** A rule that holds in every world, whatever goes wrong in it. */
export interface Invariant {
  /** A few words in kebab-case. */
  readonly name: string;
  /** One sentence. */
  readonly rule: string;
  /** The file of the kubelet, or the page of these docs, that the rule comes from. */
  readonly source: string;
  readonly watch: (truth: WorldTruth, settings: AgentSettings) => Monitor;
}
