import { errorText } from '../model/cri/cri-error.js';
import { codeOf, dialErrorText } from './dial-error-text.js';

/** Whether a plain HTTP server answered a TLS handshake. The code depends on the version of OpenSSL. */
export const isPlainHttpError = (error: unknown): boolean =>
  error instanceof Error && /:(wrong version number|packet length too long):/.test(error.message);

/** The text of the kubelet's client for the error where it has its own; else the text of the error. */
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
