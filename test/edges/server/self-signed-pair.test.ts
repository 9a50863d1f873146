import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { selfSignedPair } from '../../../src/server/tls/self-signed-pair.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'self-signed-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const NOW = Date.parse('2026-03-04T05:06:07Z');
const pair = (now = NOW) => selfSignedPair({ directory: join(folder, 'pki'), host: 'node-1', now: () => now });

describe('a self-signed certificate', () => {
  it('is of an authority of its own, for the name of the node, for a year', async () => {
    const { certFile, keyFile } = await pair();
    expect([certFile, keyFile]).toEqual([join(folder, 'pki', 'kubelet.crt'), join(folder, 'pki', 'kubelet.key')]);
    const blocks = readFileSync(certFile, 'utf8').match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? [];
    expect(blocks).toHaveLength(2);
    const [own, ca] = blocks.map((block) => new X509Certificate(block));
    const seconds = NOW / 1_000;
    expect([own?.subject, ca?.subject]).toEqual([`CN=node-1@${seconds}`, `CN=node-1-ca@${seconds}`]);
    expect(own?.subjectAltName).toBe('DNS:node-1');
    expect(own?.checkHost('node-1')).toBe('node-1');
    expect(Date.parse(own?.validFrom ?? '')).toBe(NOW - 3_600_000);
    expect(Date.parse(own?.validTo ?? '')).toBe(NOW - 3_600_000 + 365 * 86_400_000);
    expect([ca?.ca, own?.ca]).toEqual([true, false]);
    expect(own?.verify(ca!.publicKey)).toBe(true);
    expect(own?.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2_048);
    expect(own?.checkIssued(ca!)).toBe(true);
  });

  it('has a key for the user of the agent alone', async () => {
    const { certFile, keyFile } = await pair();
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(statSync(certFile).mode & 0o777).toBe(0o644);
  });

  it('is made once, also if it has expired, and again if a file is missing', async () => {
    const { certFile, keyFile } = await pair();
    const [cert, key] = [certFile, keyFile].map((file) => readFileSync(file, 'utf8'));
    await pair(NOW + 800 * 86_400_000);
    expect([certFile, keyFile].map((file) => readFileSync(file, 'utf8'))).toEqual([cert, key]);
    rmSync(keyFile);
    await pair();
    expect(readFileSync(certFile, 'utf8')).not.toBe(cert);
    expect(readFileSync(keyFile, 'utf8')).not.toBe(key);
  });
});
