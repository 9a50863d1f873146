import { type ServiceError, status } from '@grpc/grpc-js';
import { CriError, type CriErrorCode } from '../model/cri-error.js';

const CODES: Readonly<Partial<Record<status, CriErrorCode>>> = {
  [status.CANCELLED]: 'cancelled',
  [status.UNKNOWN]: 'unknown',
  [status.INVALID_ARGUMENT]: 'invalid-argument',
  [status.DEADLINE_EXCEEDED]: 'deadline-exceeded',
  [status.NOT_FOUND]: 'not-found',
  [status.ALREADY_EXISTS]: 'already-exists',
  [status.PERMISSION_DENIED]: 'permission-denied',
  [status.RESOURCE_EXHAUSTED]: 'resource-exhausted',
  [status.FAILED_PRECONDITION]: 'failed-precondition',
  [status.ABORTED]: 'aborted',
  [status.OUT_OF_RANGE]: 'out-of-range',
  [status.UNIMPLEMENTED]: 'unimplemented',
  [status.INTERNAL]: 'internal',
  [status.UNAVAILABLE]: 'unavailable',
  [status.DATA_LOSS]: 'data-loss',
  [status.UNAUTHENTICATED]: 'unauthenticated',
};

/** What containerd says while its CRI service starts; releases before 1.7 say it with the status UNKNOWN. */
const STARTING = 'server is not initialized yet';

/** What the client itself says of a call past its deadline; its own text goes on about the inside of its connection. */
const PAST_DEADLINE = /^Deadline exceeded/;

/** A failed gRPC call as the agent knows it. A runtime that is not there is named by its endpoint. */
export const toCriError = (error: ServiceError, call: string, endpoint: string): CriError => {
  const text = error.details || error.message;
  const code = text === STARTING ? 'unavailable' : (CODES[error.code] ?? 'other');
  const message =
    code === 'unavailable'
      ? `container runtime at ${endpoint} is unavailable: ${text}`
      : PAST_DEADLINE.test(text)
        ? 'context deadline exceeded: the container runtime did not answer in time'
        : text;
  return new CriError(code, call, message, { cause: error });
};
