/** A recording that cannot be replayed: it contradicts itself, or is not whole. `message` names the entry. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';

  constructor(
    /** Number of the entry; the header is 0. */
    readonly entry: number,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`entry ${entry} of the recording: ${problem}`, options);
  }
}
