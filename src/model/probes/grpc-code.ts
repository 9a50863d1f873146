/** The status codes of gRPC by their numbers, as Go prints them. */
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

/** The code of a number; one that is none of the protocol's is named by it. */
export const grpcCode = (number: number): GrpcCode => CODES[number] ?? `Code(${number})`;

/**
 * The code for an answer that is not one of gRPC, by its HTTP status.
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
