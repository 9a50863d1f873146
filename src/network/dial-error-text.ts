import { hostAndPort } from '../model/config/http-get.js';

/** The text of Go for a connection that failed; undefined for errors that occur after the connection. */
export const dialErrorText = (
  error: unknown,
  to: { readonly host: string; readonly port: number },
): string | undefined => {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${to.host}: no such host`;
  const reason = DIAL[code];
  return reason === undefined ? undefined : `dial tcp ${hostAndPort(to)}: connect: ${reason}`;
};

const DIAL: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'cannot assign requested address',
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  EINVAL: 'invalid argument',
  EMFILE: 'too many open files',
  ENETUNREACH: 'network is unreachable',
  EPERM: 'operation not permitted',
  ETIMEDOUT: 'connection timed out',
};

/** The code of an error of Node. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
