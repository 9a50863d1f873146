// Has to come before the library, which needs it when it is loaded.
import 'reflect-metadata';
import { Name, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';
import { createPublicKey, type KeyObject, webcrypto } from 'node:crypto';
import type { CertificateSubject } from '../model/certificates/node-certificate.js';

/** The signature algorithms of the key types, as WebCrypto names them. */
const ALGORITHMS = {
  ec: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
} as const;

/** Returns a request for a certificate of the key, PKCS #10 in PEM. Its subject begins with the organizations, as in Go. */
export const certificationRequest = async (
  key: KeyObject,
  keyType: 'ec' | 'rsa',
  { commonName, organizations, dnsNames = [], ips = [] }: CertificateSubject,
): Promise<string> => {
  const algorithm = ALGORITHMS[keyType];
  const { subtle } = webcrypto;
  const [privateKey, publicKey] = await Promise.all([
    subtle.importKey('pkcs8', key.export({ type: 'pkcs8', format: 'der' }), algorithm, false, ['sign']),
    subtle.importKey('spki', createPublicKey(key).export({ type: 'spki', format: 'der' }), algorithm, true, ['verify']),
  ]);
  const name = new Name([...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }]);
  const hosts = [
    ...dnsNames.map((value) => ({ type: 'dns', value }) as const),
    ...ips.map((value) => ({ type: 'ip', value }) as const),
  ];
  const request = await Pkcs10CertificateRequestGenerator.create(
    {
      name: name.toJSON(),
      signingAlgorithm: algorithm,
      keys: { privateKey, publicKey },
      ...(hosts.length > 0 && { extensions: [new SubjectAlternativeNameExtension(hosts)] }),
    },
    webcrypto,
  );
  return `${request.toString('pem')}\n`;
};
