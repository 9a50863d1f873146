import type { GrpcCode } from './grpc-code.js';

/** A health check without a reply: no connection was made, or the call failed. */
export type HealthFailureStage = 'connect' | 'call';

/** The reason why there is no health status. `message` is the description of the status alone. */
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
