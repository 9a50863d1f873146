import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstValueFrom, lastValueFrom, type Observable } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { certificateStore } from '../../../src/kube-api/certificate-store.js';
import { CertificateRefused } from '../../../src/model/certificates/certificate-refused.js';
import { Authority } from './authority.js';

let scratch: string;
let authority: Authority;
let folder: string;
let now: number;
let warnings: string[];
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'rx-kubelet-authority-'));
  authority = new Authority(scratch);
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'rx-kubelet-store-')), 'pki');
  now = new Date(2026, 5, 7, 8, 9, 10).getTime();
  warnings = [];
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const SUBJECT = '/O=system:nodes/CN=system:node:node-1';
const CURRENT = 'kubelet-client-current.pem';
const store = () => certificateStore(folder, { now: () => now, log: { warn: (_, text) => warnings.push(text) } });
const done = (act$: Observable<never>): Promise<unknown> => lastValueFrom(act$, { defaultValue: undefined });
const current = () => firstValueFrom(store().current());
const replace = ({ cert, key }: { readonly cert: string; readonly key: string }) =>
  firstValueFrom(store().replace(cert, key));
const modeOf = (name: string): string => (statSync(join(folder, name)).mode & 0o777).toString(8);
const linked = (): string => readlinkSync(join(folder, CURRENT));
/**
 * A certificate that holds at the time of the store, which is not that of this machine. Its times are later by as long as OpenSSL takes, so
 * that they may say little of a minute.
 */
const pairAtNow = (subject = SUBJECT, secondsLeft = 3_600) => {
  const ahead = (now - Date.now()) / 1_000;
  return authority.pair(subject, { since: -ahead + 3_600, until: ahead + secondsLeft });
};

describe('certificates on disk', () => {
  it('are read by the first module that knows of TLS, and connections over TLS can still be made', async () => {
    await replace(pairAtNow());
    const module = fileURLToPath(new URL('../../../src/kube-api/certificate-store.ts', import.meta.url));
    const script = `import { firstValueFrom } from 'rxjs';
      import { certificateStore } from ${JSON.stringify(module)};
      const store = certificateStore(${JSON.stringify(folder)}, { now: () => ${now}, log: { warn: console.log } });
      const { commonName } = await firstValueFrom(store.current());
      console.log(commonName, typeof (await import('node:tls')).createSecureContext);`;
    const node = ['--import', 'tsx', '--input-type=module', '-e', script];
    expect(execFileSync(process.execPath, node, { encoding: 'utf8' })).toBe('system:node:node-1 function\n');
  });

  it('stay in use where the machine cannot read the one in use just now', async () => {
    await replace(pairAtNow());
    now += 1_000;
    await replace(pairAtNow());
    const inUse = linked();
    rmSync(inUse);
    // Every read of it is an EIO.
    symlinkSync('/proc/self/mem', inUse);
    await expect(current()).rejects.toMatchObject({ code: 'EIO' });
    expect(linked()).toBe(inUse);
    expect(warnings).toEqual([]);
  });

  it('are in a file for their second, for their owner only, with a link to the one in use', async () => {
    const pair = pairAtNow();
    expect(await current()).toBeUndefined();
    const stored = await replace(pair);
    expect(stored).toMatchObject({ commonName: 'system:node:node-1', organizations: ['system:nodes'] });
    expect(stored.notAfter - stored.notBefore).toBeCloseTo(7_200_000, -4);
    const file = 'kubelet-client-2026-06-07-08-09-10.pem';
    expect(readdirSync(folder).sort()).toEqual([file, CURRENT]);
    expect([modeOf('.'), modeOf(file)]).toEqual(['755', '600']);
    expect(linked()).toBe(join(folder, file));
    expect(readFileSync(join(folder, CURRENT), 'utf8')).toBe(`${pair.cert.trim()}\n${pair.key.trim()}\n`);
    expect(await current()).toEqual(stored);
  });

  it('stay with the four before them', async () => {
    for (let count = 0; count < 8; count += 1) {
      now += 1_000;
      await replace(pairAtNow());
    }
    expect(readdirSync(folder).filter((name) => name !== CURRENT)).toEqual(
      [14, 15, 16, 17, 18].map((second) => `kubelet-client-2026-06-07-08-09-${second}.pem`),
    );
    expect(linked()).toBe(join(folder, 'kubelet-client-2026-06-07-08-09-18.pem'));
  });

  it.each<[string, () => { readonly cert: string; readonly key: string }, string]>([
    [
      'of another key',
      () => ({ cert: pairAtNow().cert, key: pairAtNow().key }),
      'does not belong to the key beside it',
    ],
    ['that is none', () => ({ ...pairAtNow(), cert: 'nothing' }), 'expected PEM with a certificate'],
    ['without a key', () => ({ ...pairAtNow(), key: '' }), 'expected PEM with a private key'],
    ['that has ended', () => pairAtNow(SUBJECT, -60), 'has expired already'],
  ])('are not replaced by one %s', async (_, other, problem) => {
    const stored = await replace(pairAtNow());
    now += 1_000;
    const bad = other();
    await expect(replace(bad)).rejects.toThrow(problem);
    await expect(replace(bad)).rejects.toThrow(CertificateRefused);
    expect(await current()).toEqual(stored);
    expect(readdirSync(folder).length).toBe(2);
  });

  it('keep every certificate of a chain, the first one counts', async () => {
    const pair = pairAtNow();
    const stored = await replace({ ...pair, cert: `${pair.cert}${authority.ca}` });
    expect(stored.commonName).toBe('system:node:node-1');
    expect(readFileSync(join(folder, CURRENT), 'utf8').match(/BEGIN CERTIFICATE/g)?.length).toBe(2);
  });

  it('are found if a user has created them by hand, until there is another one', async () => {
    const pair = pairAtNow();
    mkdirSync(folder);
    writeFileSync(join(folder, 'kubelet-client.crt'), pair.cert);
    expect(await current()).toBeUndefined();
    writeFileSync(join(folder, 'kubelet-client.key'), pair.key);
    const found = await current();
    expect(found?.commonName).toBe('system:node:node-1');
    const next = await replace(pairAtNow());
    expect(next.fingerprint).not.toBe(found?.fingerprint);
    expect(await current()).toEqual(next);
  });
});

describe('serving certificates on disk', () => {
  const serving = (fallback?: { readonly certFile: string; readonly keyFile: string }) =>
    certificateStore(folder, {
      use: 'serving',
      ...(fallback && { fallback }),
      now: () => now,
      log: { warn: (_, text) => warnings.push(text) },
    });

  it('have files of their own beside those of clients, and are read with their hosts', async () => {
    const client = await replace(pairAtNow());
    const ahead = (now - Date.now()) / 1_000;
    const pair = authority.pair(SUBJECT, { since: -ahead + 3_600, until: ahead + 3_600 }, 'server');
    expect(await firstValueFrom(serving().current())).toBeUndefined();
    const stored = await firstValueFrom(serving().replace(pair.cert, pair.key));
    expect(stored).toMatchObject({ commonName: 'system:node:node-1', dnsNames: [], ips: ['127.0.0.1'] });
    expect(
      readdirSync(folder)
        .filter((name) => name.startsWith('kubelet-server'))
        .sort(),
    ).toEqual(['kubelet-server-2026-06-07-08-09-10.pem', 'kubelet-server-current.pem']);
    expect(await firstValueFrom(serving().current())).toEqual(stored);
    expect(await current()).toEqual(client);
  });

  it('are those of the configuration until there are others', async () => {
    const given = pairAtNow();
    const [certFile, keyFile] = ['tls.crt', 'tls.key'].map((name) => join(scratch, name)) as [string, string];
    writeFileSync(certFile, given.cert);
    writeFileSync(keyFile, given.key);
    const found = await firstValueFrom(serving({ certFile, keyFile }).current());
    expect(found?.commonName).toBe('system:node:node-1');
    const next = pairAtNow();
    const stored = await firstValueFrom(serving({ certFile, keyFile }).replace(next.cert, next.key));
    expect(stored.fingerprint).not.toBe(found?.fingerprint);
    expect(await firstValueFrom(serving({ certFile, keyFile }).current())).toEqual(stored);
  });
});

describe('after a kill', () => {
  it('while the link was replaced the new one is taken', async () => {
    const stored = await replace(pairAtNow());
    const target = linked();
    rmSync(join(folder, CURRENT));
    symlinkSync(target, join(folder, 'kubelet-client-updated.pem'));
    expect(await current()).toEqual(stored);
    expect(readdirSync(folder)).not.toContain('kubelet-client-updated.pem');
  });

  it('before the link was replaced the old one is kept, and the next one is no worse for it', async () => {
    const stored = await replace(pairAtNow());
    symlinkSync('/nothing', join(folder, 'kubelet-client-updated.pem'));
    writeFileSync(join(folder, 'kubelet-client-2026-06-07-08-09-11.pem.123456'), 'half');
    expect(await current()).toEqual(stored);
    expect(readdirSync(folder)).not.toContain('kubelet-client-2026-06-07-08-09-11.pem.123456');
    now += 5_000;
    const next = await replace(pairAtNow());
    expect(await current()).toEqual(next);
    expect(readdirSync(folder)).not.toContain('kubelet-client-updated.pem');
  });

  it.each<[string, (path: string) => void]>([
    ['is empty', (path) => truncateSync(path, 0)],
    ['is cut off', (path) => truncateSync(path, 700)],
    ['is gone', (path) => rmSync(path)],
  ])('the newest pair that can be used is taken where the one in use %s, and that is said', async (_, spoil) => {
    const stored = await replace(pairAtNow());
    now += 1_000;
    await replace(pairAtNow());
    spoil(linked());
    expect(await current()).toEqual(stored);
    expect(linked()).toBe(join(folder, 'kubelet-client-2026-06-07-08-09-10.pem'));
    expect(warnings).toEqual(['the client certificate in use cannot be read']);
    expect(await current()).toEqual(stored);
    expect(warnings.length).toBe(1);
  });

  it('it is an error that names the file where there is no other one, or only one that has ended', async () => {
    await replace(pairAtNow(SUBJECT, 60));
    now += 3_600_000;
    await replace(pairAtNow());
    truncateSync(linked(), 0);
    await expect(current()).rejects.toThrow(`${join(folder, CURRENT)}: expected PEM with a certificate`);
    now += 10_000;
    const next = await replace(pairAtNow());
    expect(await current()).toEqual(next);
  });

  it('a file in the place of the link is not of the agent, and is left alone', async () => {
    const pair = pairAtNow();
    mkdirSync(folder);
    writeFileSync(join(folder, CURRENT), `${pair.cert}${pair.key}`);
    expect((await current())?.commonName).toBe('system:node:node-1');
    await expect(replace(pairAtNow())).rejects.toThrow(`${join(folder, CURRENT)}: is a file, expected a link to one`);
    expect(lstatSync(join(folder, CURRENT)).isFile()).toBe(true);
  });
});

describe('the key of a request that is not answered', () => {
  it('outlives the agent, for its owner only, until it is forgotten', async () => {
    const { key } = pairAtNow();
    expect(await firstValueFrom(store().pendingKey())).toBeUndefined();
    await done(store().keepPendingKey(key));
    expect(modeOf('kubelet-client.key.tmp')).toBe('600');
    expect(await firstValueFrom(store().pendingKey())).toBe(key);
    await done(store().forgetPendingKey());
    await done(store().forgetPendingKey());
    expect(await firstValueFrom(store().pendingKey())).toBeUndefined();
    expect(existsSync(join(folder, 'kubelet-client.key.tmp'))).toBe(false);
  });

  it('is passed over when it is none, and that is said', async () => {
    await done(store().keepPendingKey('half of'));
    expect(await firstValueFrom(store().pendingKey())).toBeUndefined();
    expect(warnings).toEqual(['the file is no private key and is ignored']);
  });
});
