import type { WorldEvent } from '../world-event.js';

/** Something happened that must never happen, or did not happen that has to. */
export interface Violation {
  /** Of the invariant. */
  readonly invariant: string;
  /** Virtual milliseconds. */
  readonly at: number;
  /** UID of the pod it is about. */
  readonly uid?: string;
  readonly container?: string;
  /** What was seen, and what the rule expects instead. */
  readonly message: string;
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
  /** What is wrong as of this event. An event must not be kept as it is told once and may be large. */
  readonly on: (event: WorldEvent) => readonly Violation[] | undefined;
  /** What should have happened by the end of the run. */
  readonly end?: (run: EndOfRun) => readonly Violation[];
}

/** A rule that holds in every world, whatever goes wrong in it. */
export interface Invariant {
  /** A few words in kebab-case. */
  readonly name: string;
  /** One sentence. */
  readonly rule: string;
  /** The file of the kubelet, or the page of these docs, that the rule comes from. */
  readonly source: string;
  readonly watch: () => Monitor;
}
