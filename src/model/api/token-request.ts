import type { Pod } from '../pod.js';
import type { TokenLife } from './token-refresh.js';

/** What a token is for. */
export interface TokenPurpose {
  /** It dies with the pod. */
  readonly pod: Pod;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Whom it is shown to; the API server itself where there are none. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

/** What the API server is asked for a token with. Source: pkg/volume/projected/projected.go */
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
 * The token in what the API server has answered.
 *
 * Errors: throws an Error that names the field which is missing.
 */
export const readTokenReply = (reply: unknown, { expirationSeconds }: TokenPurpose): IssuedToken => {
  const { spec, status } = (reply ?? {}) as {
    readonly spec?: { readonly expirationSeconds?: number };
    readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
  };
  const expiresAt = Date.parse(status?.expirationTimestamp ?? '');
  if (!status?.token) throw new Error('the answer to a TokenRequest has no status.token (expected text)');
  if (Number.isNaN(expiresAt))
    throw new Error('the answer to a TokenRequest has no status.expirationTimestamp (expected a time)');
  return { token: status.token, expiresAt, lifetimeMs: 1_000 * (spec?.expirationSeconds ?? expirationSeconds) };
};

/** The same for the same purpose; holds nothing secret. */
export const tokenKey = ({ pod, namespace, serviceAccount, audiences, expirationSeconds }: TokenPurpose): string =>
  JSON.stringify([serviceAccount, namespace, audiences, expirationSeconds, pod.metadata.name, pod.metadata.uid]);
