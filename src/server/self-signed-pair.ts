import { randomBytes, webcrypto } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { isAbsence } from '../model/values/file-error.js';

/** Paths of a certificate and its key, PEM. */
export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface SelfSignedOptions {
  readonly directory: string;
  /** The only name in the certificate. */
  readonly host: string;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2_048,
  publicExponent: new Uint8Array([1, 0, 1]),
} as const;
const HOUR_MS = 3_600_000;
const VALID_MS = 365 * 24 * HOUR_MS;

/**
 * Returns the files of a serving certificate in the folder, which are made if one of them is missing. Files of an earlier
 * agent are used, also after their expiry: a client that trusts the certificate trusts this one.
 *
 * Errors: the files cannot be read or written.
 * Source: cmd/kubelet/app/server.go InitializeTLS, staging/src/k8s.io/client-go/util/cert/cert.go
 *         GenerateSelfSignedCertKey
 */
export const selfSignedPair = async ({ directory, host, now }: SelfSignedOptions): Promise<PairFiles> => {
  const files: PairFiles = { certFile: join(directory, 'kubelet.crt'), keyFile: join(directory, 'kubelet.key') };
  if ((await isThere(files.certFile)) && (await isThere(files.keyFile))) return files;
  const { certificates, key } = await generatePair(host, now());
  await mkdir(directory, { recursive: true, mode: 0o755 });
  // The key comes first: a certificate without its key is not used, and the next start replaces both.
  await writeFileAtomic(files.keyFile, key, { mode: 0o600 });
  await writeFileAtomic(files.certFile, certificates, { mode: 0o644 });
  return files;
};

const isThere = async (path: string): Promise<boolean> => {
  try {
    await readFile(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
};

const generatePair = async (host: string, now: number): Promise<{ certificates: string; key: string }> => {
  // Loaded on demand, and before the library, which needs it: most agents have their files already.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const [authority, server] = await Promise.all(
    [0, 1].map(() => webcrypto.subtle.generateKey(RSA, true, ['sign', 'verify'])),
  );
  if (!authority || !server) throw new Error('no keys');
  const seconds = Math.trunc(now / 1_000);
  const times = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now - HOUR_MS + VALID_MS) };
  const issuer = [{ CN: [`${host}-ca@${seconds}`] }];
  const { KeyUsageFlags: usage } = x509;
  const ca = await x509.X509CertificateGenerator.create({
    ...times,
    serialNumber: serialNumber(),
    subject: issuer,
    issuer,
    publicKey: authority.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: RSA,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(usage.digitalSignature | usage.keyEncipherment | usage.keyCertSign, true),
    ],
  });
  const own = await x509.X509CertificateGenerator.create({
    ...times,
    serialNumber: serialNumber(),
    subject: [{ CN: [`${host}@${seconds}`] }],
    issuer,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: RSA,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(usage.digitalSignature | usage.keyEncipherment, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
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
