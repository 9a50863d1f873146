/** The outcome of a probe. A warning counts as a success, and is logged. */
export interface ProbeOutcome {
  readonly result: 'success' | 'warning' | 'failure';
  /** The reply of the server or command, or the reason why there is none; at most 10 KiB. */
  readonly output: string;
}
