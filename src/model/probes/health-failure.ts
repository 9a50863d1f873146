import type { GrpcCode } from './grpc-code.js';

/** A health check without an answer: no connection came about, or the call did not go well. */
export type HealthFailureStage = 'connect' | 'call';

/** Why a server did not say how it is. `message` is the description of the status alone. */
export class HealthFailure extends Error {
  override readonly name = 'HealthFailure';

  constructor(
    readonly stage: HealthFailureStage,
    readonly code: GrpcCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
