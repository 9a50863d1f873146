import { status } from '@grpc/grpc-js';

/** A failure that a client can handle; becomes the gRPC status `code` with `message` as its text. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';

  constructor(
    readonly code: status,
    message: string,
  ) {
    super(message);
  }
}

export const notFound = (message: string): RuntimeError => new RuntimeError(status.NOT_FOUND, message);
export const invalidArgument = (message: string): RuntimeError => new RuntimeError(status.INVALID_ARGUMENT, message);
export const failedPrecondition = (message: string): RuntimeError =>
  new RuntimeError(status.FAILED_PRECONDITION, message);
export const alreadyExists = (message: string): RuntimeError => new RuntimeError(status.ALREADY_EXISTS, message);
