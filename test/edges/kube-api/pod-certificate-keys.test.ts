import { createPrivateKey, createPublicKey } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { podCertificateKeys } from '../../../src/kube-api/pod-certificate-keys.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rx-kubelet-pod-keys-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const newKey = podCertificateKeys();
const openssl = (...args: readonly string[]): string =>
  execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

it.each([
  ['RSA3072', 'Public-Key: (3072 bit)', 'sha256WithRSAEncryption'],
  ['RSA4096', 'Public-Key: (4096 bit)', 'sha256WithRSAEncryption'],
  ['ECDSAP256', 'NIST CURVE: P-256', 'ecdsa-with-SHA256'],
  ['ECDSAP384', 'NIST CURVE: P-384', 'ecdsa-with-SHA384'],
  ['ECDSAP521', 'NIST CURVE: P-521', 'ecdsa-with-SHA512'],
  ['ED25519', 'ED25519 Public-Key', 'ED25519'],
])('%s is a key whose empty request OpenSSL believes', async (keyType, key, signature) => {
  const { privateKey, requestBase64 } = await firstValueFrom(newKey(keyType));
  writeFileSync(join(folder, 'request.der'), Buffer.from(requestBase64, 'base64'));
  const args = ['req', '-inform', 'DER', '-in', 'request.der', '-noout'];
  // Fails unless the signature is one of the key in the request.
  const text = openssl(...args, '-verify', '-text');
  expect(text).toContain('Version: 1 (0x0)');
  expect(text).toMatch(/Subject: *\n/);
  expect(text).toContain(key);
  expect(text).toContain(`Signature Algorithm: ${signature}`);
  expect(text).not.toContain('X509v3');
  // The key beside it is the one of the request, in PKCS #8.
  expect(privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n([A-Za-z0-9+/=]{1,64}\n)+-----END PRIVATE KEY-----\n$/);
  const publicKey = createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'pem' });
  expect(openssl(...args, '-pubkey')).toBe(publicKey);
  // Each key is another one.
  if (!keyType.startsWith('RSA')) expect((await firstValueFrom(newKey(keyType))).privateKey).not.toBe(privateKey);
});

it('a key of another type is refused by name', async () => {
  await expect(firstValueFrom(newKey('RSA2048'))).rejects.toThrow('unknown key type "RSA2048"');
});
