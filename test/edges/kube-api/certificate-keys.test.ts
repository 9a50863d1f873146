import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateKeys } from '../../../src/kube-api/certificate-keys.js';
import { nodeSubject } from '../../../src/model/certificates/node-certificate.js';
import { verifiedRequest } from './authority.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rx-kubelet-keys-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keys = certificateKeys();
const newKey = (): Promise<string> => firstValueFrom(keys.newKey());
const requestOf = (key: string, node = 'node-1') => firstValueFrom(keys.signingRequest(key, nodeSubject(node)));

describe('a request for a certificate', () => {
  it('of a new key is one that OpenSSL believes, with the subject of the node', async () => {
    const { pem, keyType } = await requestOf(await newKey());
    const text = verifiedRequest(folder, pem);
    expect(keyType).toBe('ec');
    expect(text).toContain('Version: 1 (0x0)');
    expect(text).toContain('CN=system:node:node-1,O=system:nodes');
    expect(text).toContain('ASN1 OID: prime256v1');
    expect(text).toContain('Signature Algorithm: ecdsa-with-SHA256');
  });

  it('of a key of RSA is signed as such', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { pem, keyType } = await requestOf(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
    expect(keyType).toBe('rsa');
    expect(verifiedRequest(folder, pem)).toContain('Signature Algorithm: sha256WithRSAEncryption');
  });

  it('for a server names its hosts', async () => {
    const subject = { ...nodeSubject('node-1'), dnsNames: ['node-1', 'node-1.local'], ips: ['10.0.0.1', 'fd00::1'] };
    const { pem } = await firstValueFrom(keys.signingRequest(await newKey(), subject));
    expect(verifiedRequest(folder, pem)).toContain(
      'DNS:node-1, DNS:node-1.local, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1',
    );
    expect(verifiedRequest(folder, (await requestOf(await newKey())).pem)).not.toContain('Alternative');
  });

  it('of a node with a long name in letters beyond ASCII is still one', async () => {
    const { pem } = await requestOf(await newKey(), `n\u00f6${'x'.repeat(50)}`);
    expect(verifiedRequest(folder, pem)).toContain('x'.repeat(50));
  });

  it('has the name that the kubelet gives it: a digest of key, subject and usages', async () => {
    const key = await newKey();
    const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
    const parts = ['system:node:node-1', 'system:nodes', 'digital signature', 'client auth'].map((part) =>
      Buffer.from(part),
    );
    const digested = [spki, ...parts].map((part) => `${part.toString('base64url')}|`).join('');
    const digest = createHash('sha512-256').update(digested).digest('base64url');
    expect((await requestOf(key)).name).toBe(`node-csr-${digest}`);
    expect((await requestOf(key)).name).toBe(`node-csr-${digest}`);
    expect((await requestOf(key, 'node-2')).name).not.toBe(`node-csr-${digest}`);
    expect((await requestOf(await newKey())).name).not.toBe(`node-csr-${digest}`);
  });

  it('cannot be made of what is no key, or one of another kind', async () => {
    await expect(requestOf('no key')).rejects.toThrow();
    const { privateKey } = generateKeyPairSync('ed25519');
    await expect(requestOf(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)).rejects.toThrow(
      'expected a private key of type ec or rsa, found ed25519',
    );
  });
});
