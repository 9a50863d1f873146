import { describe, expect, it } from 'vitest';
import {
  readTokenReply,
  tokenKey,
  type TokenPurpose,
  tokenRequestBody,
} from '../../../src/model/references/token-request.js';
import { aPod } from '../../support/a-pod.js';

const purpose: TokenPurpose = {
  pod: aPod({ uid: 'u', name: 'web' }),
  namespace: 'default',
  serviceAccount: 'sa',
  audiences: ['vault'],
  expirationSeconds: 3_600,
};

it('a token is asked for the pod that it dies with', () => {
  expect(tokenRequestBody(purpose)).toEqual({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: ['vault'],
      expirationSeconds: 3_600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u' },
    },
  });
});

describe('the answer', () => {
  const status = { token: 't', expirationTimestamp: '2026-01-01T00:00:00Z' };
  const expiresAt = Date.UTC(2026, 0, 1);

  it('says for how long the token is good, which may be another time than was asked for', () => {
    expect(readTokenReply({ spec: { expirationSeconds: 600 }, status }, purpose)).toEqual({
      ...{ token: 't', expiresAt, lifetimeMs: 600_000 },
    });
    expect(readTokenReply({ status }, purpose).lifetimeMs).toBe(3_600_000);
    expect(readTokenReply({ spec: null, status }, purpose).lifetimeMs).toBe(3_600_000);
    // A token of such a lifetime would never be renewed.
    expect(readTokenReply({ spec: { expirationSeconds: 'x' }, status }, purpose).lifetimeMs).toBe(3_600_000);
    expect(() => readTokenReply({ status: { ...status, token: 5 } }, purpose)).toThrow('no status.token');
  });

  it.each([
    [undefined, 'status.token'],
    [{}, 'status.token'],
    [{ status: { ...status, token: '' } }, 'status.token'],
    [{ status: { token: 't' } }, 'status.expirationTimestamp'],
    [{ status: { ...status, expirationTimestamp: 'soon' } }, 'status.expirationTimestamp'],
  ])('%j is no token: %s', (reply, field) => {
    expect(() => readTokenReply(reply, purpose)).toThrow(`the answer to a TokenRequest has no ${field}`);
  });
});

it.each<[what: string, other: Partial<TokenPurpose>]>([
  ['account', { serviceAccount: 'other' }],
  ['namespace', { namespace: 'other' }],
  ['audience', { audiences: ['vault', 'other'] }],
  ['lifetime', { expirationSeconds: 600 }],
  ['pod', { pod: aPod({ uid: 'other', name: 'web' }) }],
])('another %s is another purpose', (_, other) => {
  expect(tokenKey({ ...purpose })).toBe(tokenKey(purpose));
  expect(tokenKey({ ...purpose, ...other })).not.toBe(tokenKey(purpose));
});
