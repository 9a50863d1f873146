import type { Pod } from '../pod/pod.js';
import type { TokenLife } from './token-refresh.js';

/** The purpose of a token. */
export interface TokenPurpose {
  /** The token expires with the pod. */
  readonly pod: Pod;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** The audiences of the token; the API server itself if there are none. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

/** Returns the body of the request for a token. Source: pkg/volume/projected/projected.go */
export const tokenRequestBody = ({ pod: { metadata }, audiences, expirationSeconds }: TokenPurpose): object => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec: {
    audiences,
    expirationSeconds,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid },
  },
});

export interface IssuedToken extends TokenLife {
  readonly token: string;
}

/**
 * Returns the token of the API server's reply.
 *
 * Errors: throws an Error that names the missing field.
 */
export const readTokenReply = (reply: unknown, { expirationSeconds }: TokenPurpose): IssuedToken => {
  const { spec, status } = (reply ?? {}) as {
    readonly spec?: { readonly expirationSeconds?: unknown } | null;
    readonly status?: { readonly token?: unknown; readonly expirationTimestamp?: string } | null;
  };
  const expiresAt = Date.parse(status?.expirationTimestamp ?? '');
  const { token } = status ?? {};
  if (typeof token !== 'string' || token === '')
    throw new Error('the answer to a TokenRequest has no status.token (expected text)');
  if (Number.isNaN(expiresAt))
    throw new Error('the answer to a TokenRequest has no status.expirationTimestamp (expected a time)');
  const stated = spec?.expirationSeconds;
  return { token, expiresAt, lifetimeMs: 1_000 * (typeof stated === 'number' ? stated : expirationSeconds) };
};

/** Returns a key that is equal for equal purposes; it contains nothing secret. */
export const tokenKey = ({ pod, namespace, serviceAccount, audiences, expirationSeconds }: TokenPurpose): string =>
  JSON.stringify([serviceAccount, namespace, audiences, expirationSeconds, pod.metadata.name, pod.metadata.uid]);
