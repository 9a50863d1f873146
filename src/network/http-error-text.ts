import { errorText } from '../model/cri-error.js';
import { codeOf, dialErrorText } from './dial-error-text.js';

/** TLS was spoken, and what came back was not TLS. Which of the two is said depends on the version of OpenSSL. */
export const isPlainHttpError = (error: unknown): boolean =>
  error instanceof Error && /:(wrong version number|packet length too long):/.test(error.message);

/** What the kubelet's client says of the error, as far as it says it in words of its own. */
export const httpErrorText = (error: unknown, to: { readonly host: string; readonly port: number }): string => {
  if (isPlainHttpError(error)) return 'http: server gave HTTP response to HTTPS client';
  const dialError = dialErrorText(error, to);
  if (dialError !== undefined) return dialError;
  const code = codeOf(error);
  if (code === 'ECONNRESET') return errorText(error) === 'socket hang up' ? 'EOF' : 'read: connection reset by peer';
  if (code?.startsWith('HPE_'))
    return `net/http: HTTP/1.x transport connection broken: malformed HTTP response (${code})`;
  return errorText(error);
};
