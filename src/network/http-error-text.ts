import { errorText } from '../model/cri-error.js';
import { hostAndPort } from '../model/http-get.js';

/** TLS was spoken, and what came back was not TLS. Which of the two is said depends on the version of OpenSSL. */
export const isPlainHttpError = (error: unknown): boolean =>
  error instanceof Error && /:(wrong version number|packet length too long):/.test(error.message);

/** What the kubelet's client says of the error, as far as it says it in words of its own. */
export const httpErrorText = (error: unknown, to: { readonly host: string; readonly port: number }): string => {
  if (isPlainHttpError(error)) return 'http: server gave HTTP response to HTTPS client';
  const code = codeOf(error);
  if (code === undefined) return errorText(error);
  if (code in DIAL) return `dial tcp ${hostAndPort(to)}: connect: ${DIAL[code]}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${to.host}: no such host`;
  if (code === 'ECONNRESET') return errorText(error) === 'socket hang up' ? 'EOF' : 'read: connection reset by peer';
  if (code.startsWith('HPE_'))
    return `net/http: HTTP/1.x transport connection broken: malformed HTTP response (${code})`;
  return errorText(error);
};

const DIAL: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
