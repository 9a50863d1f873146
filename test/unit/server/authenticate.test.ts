import { describe, expect, it } from 'vitest';
import { authenticate, bearerToken, type PresentedCertificate } from '../../../src/model/server/authenticate.js';

const NOW = 1_000;
const certificate: PresentedCertificate = {
  isTrusted: true,
  commonName: 'cn',
  organizations: ['o1', 'o2'],
  notBefore: 0,
  notAfter: 2_000,
  sha256: 'ab12',
};
const ofCertificate = {
  name: 'cn',
  uid: '',
  groups: ['o1', 'o2', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab12'] },
};
const tokenUser = { name: 'sa', uid: 'u', groups: ['g'], extra: { k: ['v'] } };
const ofToken = { ...tokenUser, groups: ['g', 'system:authenticated'] };
const anonymous = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };

const token = { authorization: 'Bearer t' };
const good = { certificate };
const untrusted = { certificate: { ...certificate, isTrusted: false } };
const expired = { certificate: { ...certificate, notAfter: NOW - 1 } };
const early = { certificate: { ...certificate, notBefore: NOW + 1 } };
const nameless = { certificate: { ...certificate, commonName: '' } };
const accepted = { user: tokenUser };
const unknown = {};

const all = { reviewsTokens: true, allowsAnonymous: true };
const closed = { reviewsTokens: true, allowsAnonymous: false };
const withoutReviews = { reviewsTokens: false, allowsAnonymous: true };
const unauthorized = { kind: 'unauthorized' } as const;
const review = { kind: 'review', token: 't' } as const;
const user = <T>(who: T) => ({ kind: 'user', user: who }) as const;

describe('a client', () => {
  it.each([
    ['nothing', {}, all, undefined, user(anonymous)],
    ['nothing, not anonymous', {}, closed, undefined, unauthorized],
    ['a certificate', good, closed, undefined, user(ofCertificate)],
    ['a certificate and a token that is not reviewed', { ...good, ...token }, all, undefined, user(ofCertificate)],
    ['an untrusted certificate', untrusted, all, undefined, unauthorized],
    ['an expired certificate', expired, all, undefined, unauthorized],
    ['a certificate of the future', early, all, undefined, unauthorized],
    ['a certificate without a name', nameless, all, undefined, user(anonymous)],
    ['a certificate without a name, not anonymous', nameless, closed, undefined, unauthorized],
    ['a token before its review', token, all, undefined, review],
    ['a token that is accepted', token, closed, accepted, user(ofToken)],
    ['a token that is unknown', token, all, unknown, unauthorized],
    ['a token whose review failed', token, all, 'failed', unauthorized],
    ['an untrusted certificate and a token', { ...untrusted, ...token }, all, undefined, review],
    ['an untrusted certificate and an accepted token', { ...untrusted, ...token }, all, accepted, user(ofToken)],
    ['an untrusted certificate and an unknown token', { ...untrusted, ...token }, all, unknown, unauthorized],
    ['a token without reviews', token, withoutReviews, undefined, user(anonymous)],
    ['an untrusted certificate without reviews', { ...untrusted, ...token }, withoutReviews, undefined, unauthorized],
    ['a password', { authorization: 'Basic dTpw' }, all, undefined, user(anonymous)],
  ] as const)('with %s', (_, presented, rules, verdict, expected) => {
    expect(authenticate(presented, rules, NOW, verdict === undefined ? [] : [verdict])).toEqual(expected);
  });

  it('with a token in a WebSocket protocol has it reviewed after that of the header', () => {
    const protocol = (text: string) => `v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.${btoa(text)}`;
    const both = { ...token, webSocketProtocols: protocol('web') };
    expect(authenticate(both, closed, NOW)).toEqual(review);
    expect(authenticate(both, closed, NOW, [accepted])).toEqual(user(ofToken));
    expect(authenticate(both, closed, NOW, [unknown])).toEqual({ kind: 'review', token: 'web' });
    expect(authenticate(both, closed, NOW, ['failed', accepted])).toEqual(user(ofToken));
    expect(authenticate(both, all, NOW, [unknown, unknown])).toEqual(unauthorized);
    const alone = { webSocketProtocols: protocol('web') };
    expect(authenticate(alone, all, NOW)).toEqual({ kind: 'review', token: 'web' });
    expect(authenticate(alone, withoutReviews, NOW)).toEqual(user(anonymous));
    const malformed = { webSocketProtocols: 'base64url.bearer.authorization.k8s.io.x, v4.channel.k8s.io' };
    expect(authenticate(malformed, all, NOW)).toEqual(unauthorized);
    expect(authenticate({ ...malformed, ...good }, all, NOW)).toEqual(user(ofCertificate));
    expect(authenticate({ webSocketProtocols: 'v4.channel.k8s.io' }, all, NOW)).toEqual(user(anonymous));
  });

  it('with a token of an anonymous user stays anonymous', () => {
    expect(authenticate(token, all, NOW, [{ user: anonymous }])).toEqual(user(anonymous));
  });
});

it.each([
  ['Bearer t', 't'],
  ['bearer t', 't'],
  ['  BEARER t more ', 't'],
  ['Bearer', undefined],
  ['Bearer ', undefined],
  ['Bearer  t', undefined],
  ['Basic t', undefined],
  ['', undefined],
  [undefined, undefined],
])('the token of %j is %j', (header, expected) => {
  expect(bearerToken(header)).toBe(expected);
});
