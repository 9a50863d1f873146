import { describe, expect, it } from 'vitest';
import {
  type IssuedCertificate,
  NOT_REQUESTED,
  type PodCertificateState,
  withRequest,
} from '../../../src/model/references/pod-certificate-state.js';
import { podCertificateSourcesOf } from '../../../src/model/references/pod-certificate-source.js';
import {
  awaitedRequest,
  credentialIn,
  keysAbout,
  newOutcome,
  NO_CERTIFICATES,
  podCertificateCounts,
  type SourceCertificate,
  type SourceCertificates,
  withCertificate,
  withCertificateSource,
  withoutCertificates,
  withoutRequests,
  withRequestEvent,
} from '../../../src/model/references/source-certificates.js';
import { aPod } from '../../support/a-pod.js';

const podOf = (uid: string, signerName = 'test/signer') => {
  const podCertificate = { signerName, keyType: 'ED25519', credentialBundlePath: 'bundle' };
  return aPod({ uid, spec: { volumes: [{ name: 'v', projected: { sources: [{ podCertificate }] } }] } });
};
const register = (state: SourceCertificates, ...pods: readonly ReturnType<typeof podOf>[]): SourceCertificates =>
  pods.reduce((before, pod) => withCertificateSource(before, pod, podCertificateSourcesOf(pod)[0]!), state);
const keyOf = (uid: string): string => podCertificateSourcesOf(podOf(uid))[0]!.key;
const oneOf = (state: SourceCertificates, uid: string): SourceCertificate => state.certificates.get(keyOf(uid))!;

const sent = withRequest(NOT_REQUESTED, { name: 'req-1', privateKey: 'key' }, { now: 0, draw: 0 });
const issuedAs = (credential: IssuedCertificate['credential']) => ({
  kind: 'issued' as const,
  issued: { credential, notBefore: 0, beginRefreshAt: 10, notAfter: 20, receivedAt: 0, warned: [] },
});
const credential = { privateKey: 'key', certificateChain: 'chain' };
const issued = issuedAs(credential);
const warned: PodCertificateState = {
  kind: 'issued',
  issued: { ...issuedAs(credential).issued, warned: ['CertificateExpired'] },
};
const denied: PodCertificateState = { kind: 'denied', reason: 'R', message: 'M' };
const failed: PodCertificateState = { kind: 'failed', reason: 'R', message: 'M' };
const request = (podUID: string, name = 'req-1') => ({ metadata: { namespace: 'default', name }, spec: { podUID } });

const both = register(NO_CERTIFICATES, podOf('p'), podOf('q'));

describe('the certificates of pods', () => {
  it('a certificate begins without a request', () => {
    expect(oneOf(both, 'p')).toMatchObject({ pod: podOf('p'), state: NOT_REQUESTED, failures: 0 });
  });

  it('certificates are dropped with their pod, and a pod without certificates changes nothing', () => {
    expect([...withoutCertificates(both, 'p').certificates.keys()]).toEqual([keyOf('q')]);
    expect(withoutCertificates(both, 'other')).toBe(both);
  });

  it('a certificate changes while its pod is registered, and not in a later registration of the pod', () => {
    const one = oneOf(both, 'p');
    expect(oneOf(withCertificate(both, one, { failures: 2 }), 'p')).toEqual({ ...one, failures: 2 });
    const gone = withoutCertificates(both, 'p');
    expect(withCertificate(gone, one, { failures: 2 })).toBe(gone);
    const again = register(gone, podOf('p'));
    expect(withCertificate(again, one, { failures: 2 })).toBe(again);
  });
});

const listed = withRequestEvent(both, {
  ...{ kind: 'replaced', objects: [request('p'), request('q', 'req-2')], resourceVersion: '1' },
});

describe('the watch of requests', () => {
  it.each([
    ['a list', { kind: 'replaced', objects: [], resourceVersion: '1' }, [keyOf('p'), keyOf('q')]],
    ['a change', { kind: 'put', object: request('q') }, [keyOf('q')]],
    ['a deletion', { kind: 'deleted', object: request('p') }, [keyOf('p')]],
    ['a request without a pod', { kind: 'put', object: { metadata: { name: 'req' } } }, []],
    ['a problem', { kind: 'problem', step: 'list', error: 'away', severity: 'error' }, []],
    ['a recovery', { kind: 'recovered' }, []],
  ] as const)('an event that is %s is about the certificates of the pods in it', (_, event, expected) => {
    expect(keysAbout(both, event)).toEqual(expected);
  });

  it('the awaited request of a certificate is known, until requests are not watched any more', () => {
    const one = { ...oneOf(listed, 'p'), state: sent };
    expect(awaitedRequest(listed, one)).toEqual(request('p'));
    expect(awaitedRequest(listed, { ...one, state: NOT_REQUESTED })).toBeUndefined();
    expect(awaitedRequest(listed, { ...one, state: denied })).toBeUndefined();
    expect(awaitedRequest(both, one)).toBeUndefined();
    expect(awaitedRequest(withoutRequests(listed), one)).toBeUndefined();
  });
});

const away = withRequestEvent(both, { kind: 'problem', step: 'list', error: new Error('away'), severity: 'error' });

describe('the credential of a source', () => {
  it('the credential of a source is the issued one', () => {
    expect(credentialIn(withCertificate(both, oneOf(both, 'p'), { state: issued }), keyOf('p'))).toBe(credential);
  });

  it.each<[title: string, state: SourceCertificates, uid: string, expected: string]>([
    ['whose pod is unknown', both, 'other', 'no credentials yet: the pod is not registered'],
    ['that is not issued', both, 'p', 'credential bundle is not issued yet'],
    ['without a watch', away, 'p', 'credential bundle is not issued yet: away'],
    [
      'whose request failed',
      withCertificate(away, oneOf(away, 'p'), { problem: 'refused' }),
      'p',
      'credential bundle is not issued yet: refused',
    ],
  ])('the credential of a source %s is an error with its reason', (_, state, uid, expected) => {
    expect(() => credentialIn(state, keyOf(uid))).toThrow(new Error(expected));
  });
});

const refusal = (verb: string) => `PodCertificateRequest default/req-1 ${verb}, reason="R", message="M"`;

it.each<[before: PodCertificateState, after: PodCertificateState, expected: object | undefined]>([
  [NOT_REQUESTED, NOT_REQUESTED, undefined],
  [NOT_REQUESTED, sent, undefined],
  [sent, issued, { kind: 'issued', request: 'req-1' }],
  [issued, issued, undefined],
  [issued, warned, undefined],
  [issued, withRequest(issued, { name: 'req-2', privateKey: 'k' }, { now: 0, draw: 0 }), undefined],
  [
    withRequest(issued, { name: 'req-2', privateKey: 'k' }, { now: 0, draw: 0 }),
    issuedAs({ ...credential, privateKey: 'k' }),
    { kind: 'issued', request: 'req-2' },
  ],
  [sent, denied, { kind: 'denied', message: refusal('was denied') }],
  [sent, failed, { kind: 'failed', message: refusal('failed') }],
  [denied, denied, undefined],
])('a certificate that was %j and is %j now has the new outcome %j', (before, after, expected) => {
  expect(newOutcome({ ...oneOf(both, 'p'), state: before }, after)).toEqual(expected);
});

it('the certificates are counted by signer and label, in the order of the first of each', () => {
  const three = register(both, podOf('r', 'other/signer'), podOf('s'));
  const state = withCertificate(three, oneOf(three, 'q'), { state: issued });
  expect(podCertificateCounts(state, { wallClock: 5, now: 5 })).toEqual([
    { signerName: 'test/signer', state: 'not_yet_issued', count: 2 },
    { signerName: 'test/signer', state: 'fresh', count: 1 },
    { signerName: 'other/signer', state: 'not_yet_issued', count: 1 },
  ]);
  expect(podCertificateCounts(NO_CERTIFICATES, { wallClock: 5, now: 5 })).toEqual([]);
});
