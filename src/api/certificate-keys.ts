import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { defer } from 'rxjs';
import type { CertificateSubject } from '../model/certificates/client-certificate.js';
import { clientUsages, type SigningRequestParts } from '../model/certificates/signing-request.js';
import type { CertificateKeys } from '../streams/ports.js';

const newKeyPair = promisify(generateKeyPair);

/** How WebCrypto calls what certificates of such keys are signed with. */
const ALGORITHMS = {
  ec: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
} as const;

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

const signingRequest = async (key: KeyObject, subject: CertificateSubject): Promise<SigningRequestParts> => {
  const keyType = keyTypeOf(key);
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const algorithm = ALGORITHMS[keyType];
  // Loaded when it is needed: most agents never ask for a certificate. The first of them is what the second one is built on.
  await import('reflect-metadata');
  const { Name, Pkcs10CertificateRequestGenerator } = await import('@peculiar/x509');
  const request = await Pkcs10CertificateRequestGenerator.create(
    {
      name: new Name([
        ...subject.organizations.map((organization) => ({ O: [organization] })),
        { CN: [subject.commonName] },
      ]).toJSON(),
      signingAlgorithm: algorithm,
      keys: {
        privateKey: await webcrypto.subtle.importKey(
          'pkcs8',
          key.export({ type: 'pkcs8', format: 'der' }),
          algorithm,
          false,
          ['sign'],
        ),
        publicKey: await webcrypto.subtle.importKey('spki', publicKey, algorithm, true, ['verify']),
      },
    },
    webcrypto,
  );
  return { pem: `${request.toString('pem')}\n`, keyType, name: digestedName(publicKey, subject, keyType) };
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
