import { CriError, type CriErrorCode, errorText } from '../cri/cri-error.js';

/** Go's names of the gRPC codes. */
const GO_NAMES: Readonly<Record<Exclude<CriErrorCode, 'unknown' | 'other'>, string>> = {
  cancelled: 'Canceled',
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
 * Returns the message of a failed pull for events and the status: the error of each attempt, with its gRPC code unless
 * that is Unknown. Equal texts occur once.
 *
 * Source: cri-client/pkg/remote_image.go PullImage; apimachinery pkg/util/errors NewAggregate
 */
export const pullErrorText = (errors: readonly unknown[]): string => {
  const texts = [...new Set(errors.map(attemptText))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
};

const attemptText = (error: unknown): string => {
  const name = error instanceof CriError ? (GO_NAMES as Readonly<Record<string, string>>)[error.code] : undefined;
  return name === undefined ? errorText(error) : `rpc error: code = ${name} desc = ${errorText(error)}`;
};
