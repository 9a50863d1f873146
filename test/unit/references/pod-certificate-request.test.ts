import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import {
  podCertificateProblem,
  podCertificateRequestBody,
  podCertificateVerdict,
} from '../../../src/model/references/pod-certificate-request.js';
import { podCertificateSourcesOf } from '../../../src/model/references/pod-certificate-source.js';
import { aPod } from '../pods.js';

const PEM = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n';
const TIMES = {
  notBefore: '2030-01-01T00:00:00Z',
  beginRefreshAt: '2030-01-01T01:00:00Z',
  notAfter: '2030-01-01T02:00:00Z',
};

describe('a request for a certificate of a pod', () => {
  const pod = aPod({ serviceAccountName: 'sa' }, { uid: 'u', namespace: 'n', name: 'web' });
  const parties = { pod, serviceAccountUid: 'sa-uid', node: { name: 'node-1', uid: 'node-uid' } };

  it('names all parties, and hands the annotations and the lifetime on', () => {
    const projection = {
      ...{ signerName: 'test/signer', keyType: 'ED25519', maxExpirationSeconds: 3600 },
      userAnnotations: { 'test/a': 'b' },
    };
    expect(podCertificateRequestBody(projection, 'MIIB', parties)).toEqual({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'PodCertificateRequest',
      metadata: {
        generateName: 'req-',
        namespace: 'n',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u' }],
      },
      spec: {
        signerName: 'test/signer',
        podName: 'web',
        podUID: 'u',
        serviceAccountName: 'sa',
        serviceAccountUID: 'sa-uid',
        nodeName: 'node-1',
        nodeUID: 'node-uid',
        maxExpirationSeconds: 3600,
        stubPKCS10Request: 'MIIB',
        unverifiedUserAnnotations: { 'test/a': 'b' },
      },
    });
  });

  it('leaves out what the source does not say', () => {
    const body = podCertificateRequestBody({ signerName: 's', keyType: 'ED25519' }, 'MIIB', parties);
    expect(Object.keys((body as { spec: object }).spec)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/maxExpirationSeconds|unverifiedUserAnnotations/)]),
    );
  });
});

describe('the verdict about a request', () => {
  const verdict = (status?: object) => podCertificateVerdict({ metadata: {}, ...(status && { status }) });
  const issued = { conditions: [{ type: 'Issued', status: 'True' }], certificateChain: PEM, ...TIMES };

  it.each([
    ['pending without a status', undefined, { kind: 'pending' }],
    ['pending with another condition', { conditions: [{ type: 'Other' }], certificateChain: PEM }, { kind: 'pending' }],
    [
      'denied',
      { conditions: [{ type: 'Denied', reason: 'UnsupportedKeyType', message: 'try ED25519' }] },
      { kind: 'denied', reason: 'UnsupportedKeyType', message: 'try ED25519' },
    ],
    ['failed, without words', { conditions: [{ type: 'Failed' }] }, { kind: 'failed', reason: '', message: '' }],
    [
      'issued',
      issued,
      {
        ...{ kind: 'issued', chain: PEM, notBefore: Date.parse(TIMES.notBefore) },
        ...{ beginRefreshAt: Date.parse(TIMES.beginRefreshAt), notAfter: Date.parse(TIMES.notAfter) },
      },
    ],
  ])('is %s', (_, status, expected) => expect(verdict(status)).toEqual(expected));

  it.each([
    ['certificateChain', 'PEM with a certificate', { certificateChain: 'none' }],
    ['notBefore', 'a time', { notBefore: undefined }],
    ['beginRefreshAt', 'a time', { beginRefreshAt: 'soon' }],
    ['notAfter', 'a time', { notAfter: undefined }],
  ])('names a missing %s', (field, expected, lack) =>
    expect(verdict({ ...issued, ...lack })).toEqual({
      kind: 'invalid',
      problem: `the issued PodCertificateRequest has no status.${field} (expected ${expected})`,
    }),
  );
});

it('a server that does not know the resource is named as such, other errors are repeated', () => {
  const missing = new ApiError({ code: 404, message: '404 page not found' });
  expect(podCertificateProblem(missing)).toBe(
    'the API server does not serve podcertificaterequests of certificates.k8s.io/v1, as Kubernetes does since 1.37',
  );
  expect(podCertificateProblem(new ApiError({ code: 403, reason: 'Forbidden', message: 'no' }))).toBe('no');
});

it('each source of each volume has a key of its own, also one that equals another', () => {
  const podCertificate = { signerName: 's', keyType: 'ED25519' };
  const pod = aPod(
    {
      volumes: [
        { name: 'a', projected: { sources: [{ podCertificate }, { configMap: { name: 'c' } }, { podCertificate }] } },
        { name: 'b', projected: {} },
        { name: 'c', emptyDir: {} },
        { name: 'd', projected: { sources: [{ podCertificate }] } },
      ],
    },
    { uid: 'u' },
  );
  expect(podCertificateSourcesOf(pod).map(({ key }) => key)).toEqual(['["u","a",0]', '["u","a",2]', '["u","d",0]']);
  expect(podCertificateSourcesOf(aPod())).toEqual([]);
});
