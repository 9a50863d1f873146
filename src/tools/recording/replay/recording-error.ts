/**
 * The error of a recording that cannot be replayed: it contradicts itself, or is not complete. `message` names the
 * entry.
 */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';

  constructor(
    /** The number of the entry; the header is 0. */
    readonly entry: number,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`entry ${entry} of the recording: ${problem}`, options);
  }
}
