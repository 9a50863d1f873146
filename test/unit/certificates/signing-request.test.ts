import { describe, expect, it } from 'vitest';
import {
  type CertificateSigningRequest,
  keyUsages,
  signingRequestObject,
  signingVerdict,
} from '../../../src/model/certificates/signing-request.js';

const request = (
  status?: CertificateSigningRequest['status'],
  uid: string | undefined = 'u-1',
): CertificateSigningRequest => ({ metadata: { name: 'csr-1', uid }, ...(status && { status }) });
const condition = (type: string) => ({ type, reason: 'R', message: 'm' });

describe('a request for a certificate', () => {
  it('names signer and usages, and is named by the server unless it has a name', () => {
    expect(signingRequestObject('cGVt', { use: 'client', keyType: 'ec' })).toEqual({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'csr-' },
      spec: {
        request: 'cGVt',
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    });
    expect(signingRequestObject('cGVt', { use: 'client', keyType: 'ec', name: 'node-csr-x' })).toMatchObject({
      metadata: { name: 'node-csr-x' },
    });
  });

  it('for a server names another signer and usage', () => {
    expect(signingRequestObject('cGVt', { use: 'serving', keyType: 'ec' })).toMatchObject({
      spec: { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] },
    });
  });

  it('may encrypt keys with a key of RSA', () => {
    expect(keyUsages('client', 'rsa')).toEqual(['digital signature', 'key encipherment', 'client auth']);
    expect(keyUsages('serving', 'rsa')).toEqual(['digital signature', 'key encipherment', 'server auth']);
  });
});

describe('what has become of a request', () => {
  it.each<[string, CertificateSigningRequest, object]>([
    ['nothing yet', request(), { kind: 'waiting', isApproved: false }],
    ['only approved', request({ conditions: [condition('Approved')] }), { kind: 'waiting', isApproved: true }],
    ['signed, not approved', request({ certificate: 'Yw==' }), { kind: 'waiting', isApproved: false }],
    [
      'approved and signed',
      request({ conditions: [condition('Approved')], certificate: 'Yw==' }),
      { kind: 'issued', certificateBase64: 'Yw==' },
    ],
    [
      'denied after it was signed',
      request({ conditions: [condition('Approved'), condition('Denied')], certificate: 'Yw==' }),
      { kind: 'refused', message: 'it was denied, reason: R, message: m' },
    ],
    [
      'failed',
      request({ conditions: [condition('Approved'), condition('Failed')] }),
      { kind: 'refused', message: 'it failed, reason: R, message: m' },
    ],
    [
      'another one of its name',
      request({ conditions: [condition('Approved')], certificate: 'Yw==' }, 'u-2'),
      { kind: 'refused', message: 'another request has taken its name' },
    ],
  ])('%s', (_, found, expected) => {
    expect(signingVerdict(found, 'u-1')).toEqual(expected);
  });
});
