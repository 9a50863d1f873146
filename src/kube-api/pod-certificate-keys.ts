import { webcrypto } from 'node:crypto';
import { defer } from 'rxjs';
import type { PodCertificateKey, PodCertificateKeys } from '../streams/ports/pod-certificate-keys.js';
import { type LoadX509Requests, loadX509Requests } from './load-x509-requests.js';

const rsa = (modulusLength: number) => ({
  ...{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength },
  publicExponent: new Uint8Array([1, 0, 1]),
});
const ecdsa = (namedCurve: string, hash: string) => ({ name: 'ECDSA', namedCurve, hash });

/** The key types with the signatures of their requests, which are those of Go. */
const ALGORITHMS: ReadonlyMap<string, webcrypto.RsaHashedKeyGenParams | webcrypto.EcKeyGenParams> = new Map<
  string,
  webcrypto.RsaHashedKeyGenParams | webcrypto.EcKeyGenParams
>([
  ['RSA3072', rsa(3072)],
  ['RSA4096', rsa(4096)],
  ['ECDSAP256', ecdsa('P-256', 'SHA-256')],
  ['ECDSAP384', ecdsa('P-384', 'SHA-384')],
  ['ECDSAP521', ecdsa('P-521', 'SHA-512')],
  ['ED25519', { name: 'Ed25519', namedCurve: 'Ed25519' }],
]);

/**
 * Makes keys for certificates of pods with the OpenSSL of this process.
 *
 * Source: pkg/kubelet/podcertificate/podcertificatemanager.go createPodCertificateRequest
 */
export const podCertificateKeys =
  (load = loadX509Requests()): PodCertificateKeys =>
  (keyType) =>
    defer(() => newKey(keyType, load));

const newKey = async (keyType: string, load: LoadX509Requests): Promise<PodCertificateKey> => {
  const algorithm = ALGORITHMS.get(keyType);
  if (!algorithm) throw new Error(`unknown key type ${JSON.stringify(keyType)}`);
  const { subtle } = webcrypto;
  const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const pkcs8 = Buffer.from(await subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const { stubRequest } = await load();
  return {
    privateKey: [
      '-----BEGIN PRIVATE KEY-----',
      ...(pkcs8.match(/.{1,64}/g) ?? []),
      '-----END PRIVATE KEY-----',
      '',
    ].join('\n'),
    requestBase64: await stubRequest(keys, algorithm),
  };
};
