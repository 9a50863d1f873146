import { CriError, type CriErrorCode, errorText } from '../cri/cri-error.js';

/** The reply to a request for a stream that is refused: plain text. */
export interface StreamRefusal {
  readonly status: number;
  readonly body: string;
  readonly retryAfterSeconds?: number;
}

/** An open stream counts until it ends, so the client cannot know when to repeat its request. */
export class TooManyStreams extends Error {
  override readonly name = 'TooManyStreams';
}

/** The lifetime of an unused URL of the runtime, which frees a place. Source: staging/src/k8s.io/cri-streaming errors.go */
const RETRY_AFTER_SECONDS = 60;

/** As gRPC for Go prints its codes. Only a call without a status has none. */
const NAMES: Readonly<Record<Exclude<CriErrorCode, 'other'>, string>> = {
  cancelled: 'Canceled',
  unknown: 'Unknown',
  'invalid-argument': 'InvalidArgument',
  'deadline-exceeded': 'DeadlineExceeded',
  'not-found': 'NotFound',
  'already-exists': 'AlreadyExists',
  'permission-denied': 'PermissionDenied',
  'resource-exhausted': 'ResourceExhausted',
  'failed-precondition': 'FailedPrecondition',
  aborted: 'Aborted',
  'out-of-range': 'OutOfRange',
  unimplemented: 'Unimplemented',
  internal: 'Internal',
  unavailable: 'Unavailable',
  'data-loss': 'DataLoss',
  unauthenticated: 'Unauthenticated',
};

/**
 * Returns the reply for an error before the stream began. Errors of the runtime have the text of gRPC for Go.
 *
 * Source: staging/src/k8s.io/cri-streaming/pkg/streaming/errors.go WriteError
 */
export const streamRefusal = (error: unknown): StreamRefusal => {
  if (error instanceof TooManyStreams) return { status: 429, body: error.message };
  if (!(error instanceof CriError) || error.code === 'other') return { status: 500, body: errorText(error) };
  const body = `rpc error: code = ${NAMES[error.code]} desc = ${error.message}`;
  if (error.code === 'not-found') return { status: 404, body };
  if (error.code === 'resource-exhausted') return { status: 429, body, retryAfterSeconds: RETRY_AFTER_SECONDS };
  return { status: 500, body };
};
