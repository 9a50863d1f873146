/** The status codes of gRPC by number, in Go's names. */
const CODES = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

export type GrpcCode = (typeof CODES)[number] | `Code(${number})`;

/** Returns the code of a number; an unknown number is part of the name. */
export const grpcCode = (number: number): GrpcCode => CODES[number] ?? `Code(${number})`;

/**
 * Returns the code for an HTTP status without a gRPC status.
 *
 * Source: https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md
 */
export const grpcCodeOfHttp = (status: number): GrpcCode => HTTP[status] ?? 'Unknown';

const HTTP: Readonly<Record<number, GrpcCode>> = {
  400: 'Internal',
  401: 'Unauthenticated',
  403: 'PermissionDenied',
  404: 'Unimplemented',
  429: 'Unavailable',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
};
