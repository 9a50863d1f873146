/** The gRPC status codes that the agent's decisions tell apart; any other is `other`. */
export type CriErrorCode =
  | 'cancelled'
  | 'unknown'
  | 'invalid-argument'
  | 'deadline-exceeded'
  | 'not-found'
  | 'already-exists'
  | 'failed-precondition'
  | 'unimplemented'
  | 'unavailable'
  | 'other';

/** A failed call to the container runtime. `message` is the status text alone, as the kubelet prints it in events. */
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

/** What a message can say of anything thrown. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
