/** The gRPC status codes; a call that failed without one, such as by an unusable reply, is `other`. */
export type CriErrorCode =
  | 'cancelled'
  | 'unknown'
  | 'invalid-argument'
  | 'deadline-exceeded'
  | 'not-found'
  | 'already-exists'
  | 'permission-denied'
  | 'resource-exhausted'
  | 'failed-precondition'
  | 'aborted'
  | 'out-of-range'
  | 'unimplemented'
  | 'internal'
  | 'unavailable'
  | 'data-loss'
  | 'unauthenticated'
  | 'other';

/** A failed call to the container runtime. `message` is the status text alone, the text of the kubelet's events. */
export class CriError extends Error {
  override readonly name = 'CriError';

  constructor(
    readonly code: CriErrorCode,
    /** The CRI method, such as `StartContainer`. */
    readonly call: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export const isCriError = (error: unknown, code: CriErrorCode): error is CriError =>
  error instanceof CriError && error.code === code;

/** Returns the text of anything thrown, for a message. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
