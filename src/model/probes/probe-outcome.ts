/** What a probe found. A warning counts as a success that somebody should hear of. */
export interface ProbeOutcome {
  readonly result: 'success' | 'warning' | 'failure';
  /** What the far side said, or why it said nothing; at most 10 KiB. */
  readonly output: string;
}
