import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { defer } from 'rxjs';
import type { CertificateSubject } from '../model/certificates/client-certificate.js';
import { type Der, bitString, certificationRequestInfo, oid, sequence } from '../model/certificates/der.js';
import { clientUsages, type SigningRequestParts } from '../model/certificates/signing-request.js';
import type { CertificateKeys } from '../streams/ports.js';

const newKeyPair = promisify(generateKeyPair);

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
/** With the NULL that this one has for parameters. */
const RSA_WITH_SHA256 = sequence(oid('1.2.840.113549.1.1.11'), Uint8Array.of(5, 0));

/**
 * Keys of this process's own OpenSSL. Requests are as Go makes them, and so are the names that stand for them.
 *
 * Source: staging/src/k8s.io/client-go/util/cert/csr.go, pkg/kubelet/certificate/bootstrap/bootstrap.go digestedName
 */
export const certificateKeys = (): CertificateKeys => ({
  newKey: () =>
    defer(async () => {
      const { privateKey } = await newKeyPair('ec', { namedCurve: 'P-256' });
      return privateKey.export({ type: 'sec1', format: 'pem' }) as string;
    }),
  signingRequest: (keyPem, subject) => defer(async () => signingRequest(createPrivateKey(keyPem), subject)),
});

const signingRequest = (key: KeyObject, subject: CertificateSubject): SigningRequestParts => {
  const keyType = keyTypeOf(key);
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const info = certificationRequestInfo(subject, publicKey);
  const signed = sequence(
    info,
    keyType === 'ec' ? ECDSA_WITH_SHA256 : RSA_WITH_SHA256,
    bitString(sign('sha256', info, key)),
  );
  return { pem: pemOf('CERTIFICATE REQUEST', signed), keyType, name: digestedName(publicKey, subject, keyType) };
};

const keyTypeOf = ({ asymmetricKeyType }: KeyObject): 'ec' | 'rsa' => {
  if (asymmetricKeyType === 'ec' || asymmetricKeyType === 'rsa') return asymmetricKeyType;
  throw new Error(`expected a private key of type ec or rsa, found ${asymmetricKeyType}`);
};

/** Each part in base64, so that none of them has the bar in it that ends it. */
const digestedName = (publicKey: Buffer, subject: CertificateSubject, keyType: 'ec' | 'rsa'): string => {
  const hash = createHash('sha512-256');
  const parts = [publicKey, ...[subject.commonName, ...subject.organizations, ...clientUsages(keyType)].map(bytesOf)];
  for (const part of parts) hash.update(`${part.toString('base64url')}|`);
  return `node-csr-${hash.digest('base64url')}`;
};

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');

const pemOf = (label: string, der: Der): string =>
  `-----BEGIN ${label}-----\n${(
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  ).join('\n')}\n-----END ${label}-----\n`;
