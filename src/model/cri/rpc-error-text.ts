import { CriError, type CriErrorCode, errorText } from './cri-error.js';

/** Go's names of the gRPC codes. */
const GO_NAMES: Readonly<Record<Exclude<CriErrorCode, 'other'>, string>> = {
  unknown: 'Unknown',
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

/** Returns the text of anything thrown as Go has it: with the code for a call to the runtime. */
export const rpcErrorText = (error: unknown): string => {
  const name = error instanceof CriError ? (GO_NAMES as Readonly<Record<string, string>>)[error.code] : undefined;
  return name === undefined ? errorText(error) : `rpc error: code = ${name} desc = ${errorText(error)}`;
};
