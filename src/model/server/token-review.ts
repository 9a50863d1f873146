import type { TokenVerdict } from './authenticate.js';

export const TOKEN_REVIEWS_PATH = '/apis/authentication.k8s.io/v1/tokenreviews';

export const tokenReview = (token: string): object => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  spec: { token },
});

/**
 * Reads the reply to a TokenReview. Errors: the server reports that it could not check the token, or the reply is no
 * review; such a result says nothing about later reviews of the token.
 *
 * Source: staging/src/k8s.io/apiserver/plugin/pkg/authenticator/token/webhook/webhook.go
 */
export const readTokenReview = (reply: unknown): TokenVerdict => {
  const status = statusOf(reply);
  if (!status || (typeof status.authenticated !== 'boolean' && status.authenticated !== undefined)) {
    throw new Error('the reply to a TokenReview has no status');
  }
  if (status.authenticated !== true) {
    if (typeof status.error === 'string' && status.error !== '') throw new Error(status.error);
    return {};
  }
  const user = asRecord(status.user);
  const { username, uid, groups, extra } = user ?? {};
  if (typeof username !== 'string' || username === '') throw new Error('the reply to a TokenReview names no user');
  return {
    user: {
      name: username,
      uid: typeof uid === 'string' ? uid : '',
      groups: texts(groups),
      extra: Object.fromEntries(Object.entries(asRecord(extra) ?? {}).map(([key, values]) => [key, texts(values)])),
    },
  };
};

type Fields = Readonly<Record<string, unknown>>;

const asRecord = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null ? (value as Fields) : undefined;

/** The status of a review. */
export const statusOf = (reply: unknown): Fields | undefined => asRecord(asRecord(reply)?.status);

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
