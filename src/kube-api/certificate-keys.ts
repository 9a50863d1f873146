import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { defer } from 'rxjs';
import type { CertificateSubject } from '../model/certificates/node-certificate.js';
import { keyUsages, type SigningRequestParts } from '../model/certificates/signing-request.js';
import type { CertificateKeys } from '../streams/ports/certificate-keys.js';
import { type LoadX509Requests, loadX509Requests } from './load-x509-requests.js';

const newKeyPair = promisify(generateKeyPair);

/**
 * Makes keys with the OpenSSL of this process. Requests and their names are the same as those of Go.
 *
 * Source: staging/src/k8s.io/client-go/util/cert/csr.go, pkg/kubelet/certificate/bootstrap/bootstrap.go digestedName
 */
export const certificateKeys = (load = loadX509Requests()): CertificateKeys => ({
  newKey: () =>
    defer(async () => {
      const { privateKey } = await newKeyPair('ec', { namedCurve: 'P-256' });
      return privateKey.export({ type: 'sec1', format: 'pem' }) as string;
    }),
  signingRequest: (keyPem, subject) => defer(async () => signingRequest(createPrivateKey(keyPem), subject, load)),
});

const signingRequest = async (
  key: KeyObject,
  subject: CertificateSubject,
  load: LoadX509Requests,
): Promise<SigningRequestParts> => {
  const keyType = keyTypeOf(key);
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const { certificationRequest } = await load();
  const pem = await certificationRequest(key, keyType, subject);
  return { pem, keyType, name: digestedName(publicKey, subject, keyType) };
};

const keyTypeOf = ({ asymmetricKeyType }: KeyObject): 'ec' | 'rsa' => {
  if (asymmetricKeyType === 'ec' || asymmetricKeyType === 'rsa') return asymmetricKeyType;
  throw new Error(`expected a private key of type ec or rsa, found ${asymmetricKeyType}`);
};

/** The name of a request with bootstrap credentials, which is one for a client certificate. Each part is in base64, so that it cannot contain the bar that ends it. */
const digestedName = (publicKey: Buffer, subject: CertificateSubject, keyType: 'ec' | 'rsa'): string => {
  const hash = createHash('sha512-256');
  const parts = [
    publicKey,
    ...[subject.commonName, ...subject.organizations, ...keyUsages('client', keyType)].map(bytesOf),
  ];
  for (const part of parts) hash.update(`${part.toString('base64url')}|`);
  return `node-csr-${hash.digest('base64url')}`;
};

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');
