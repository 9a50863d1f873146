import { type ServiceError, status } from '@grpc/grpc-js';
import { CriError, type CriErrorCode } from '../model/cri/cri-error.js';

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

/** The message of containerd while its CRI service starts; releases before 1.7 send it with the status UNKNOWN. */
const STARTING = 'server is not initialized yet';

/** The client's own message for a call past its deadline; it goes on with the state of the connection. */
const PAST_DEADLINE = /^Deadline exceeded/;

/** The `CriError` of a failed gRPC call. For an unavailable runtime the message contains the endpoint. */
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
