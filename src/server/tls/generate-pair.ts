// Has to come before the library, which needs it when it is loaded.
import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { randomBytes, webcrypto } from 'node:crypto';

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2_048,
  publicExponent: new Uint8Array([1, 0, 1]),
} as const;
const HOUR_MS = 3_600_000;
const VALID_MS = 365 * 24 * HOUR_MS;

export interface GeneratedPair {
  /** The certificate, then its authority. PEM. */
  readonly certificates: string;
  /** PKCS #8, PEM. */
  readonly key: string;
}

/**
 * Makes a serving certificate for the host, signed by an authority whose key is not kept. `now` is in Unix milliseconds.
 *
 * Source: staging/src/k8s.io/client-go/util/cert/cert.go GenerateSelfSignedCertKey
 */
export const generatePair = async (host: string, now: number): Promise<GeneratedPair> => {
  const [authority, server] = await Promise.all(
    [0, 1].map(() => webcrypto.subtle.generateKey(RSA, true, ['sign', 'verify'])),
  );
  if (!authority || !server) throw new Error('no keys');
  const seconds = Math.trunc(now / 1_000);
  const times = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now - HOUR_MS + VALID_MS) };
  const issuer = [{ CN: [`${host}-ca@${seconds}`] }];
  const ca = await X509CertificateGenerator.create({
    ...times,
    serialNumber: serialNumber(),
    subject: issuer,
    issuer,
    publicKey: authority.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: RSA,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(
        KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign,
        true,
      ),
    ],
  });
  const own = await X509CertificateGenerator.create({
    ...times,
    serialNumber: serialNumber(),
    subject: [{ CN: [`${host}@${seconds}`] }],
    issuer,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: RSA,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
    ],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', server.privateKey)).toString('base64');
  const lines = pkcs8.match(/.{1,64}/g) ?? [];
  return {
    certificates: `${own.toString('pem')}\n${ca.toString('pem')}\n`,
    key: ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n'),
  };
};

/** A positive number of 16 bytes in hexadecimal digits. */
const serialNumber = (): string => {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return bytes.toString('hex');
};
