import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dockerConfigPlaces, nodeCredentials } from '../../../src/images/node-credentials.js';

const REPOSITORY = 'r.example.com/app';
const entry = (username: string) => ({ 'r.example.com': { username, password: 'secret' } });

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rx-kubelet-credentials-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (path: string, content: unknown): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
};

const onNode = () => {
  const scheduler = new TestScheduler(() => true);
  const warnings: unknown[] = [];
  const places = dockerConfigPlaces(join(folder, 'state'), {
    workingDirectory: join(folder, 'cwd'),
    home: join(folder, 'home'),
  });
  // What is in the folder only; the others are this machine's own.
  const own = places.filter(({ path }) => path.startsWith(folder));
  const lookup = nodeCredentials(own, { scheduler, log: { warn: (fields) => warnings.push(fields) } });
  const names = async () => (await firstValueFrom(lookup(REPOSITORY))).map(({ username }) => username);
  return { scheduler, warnings, places, names };
};

describe('passwords of this machine', () => {
  it('are looked for in the root directory, the working directory, the home and below /', () => {
    expect(onNode().places.map(({ path }) => path.replace(folder, ''))).toEqual([
      '/state/config.json',
      '/cwd/config.json',
      '/home/.docker/config.json',
      '/.docker/config.json',
      '/state/.dockercfg',
      '/cwd/.dockercfg',
      '/home/.dockercfg',
      '/.dockercfg',
    ]);
  });

  it('are not taken for none while the machine cannot read them, and nothing is kept of that', async () => {
    write('home/.docker/config.json', { auths: entry('home') });
    mkdirSync(join(folder, 'state'));
    // Every read of it is an EIO.
    symlinkSync('/proc/self/mem', join(folder, 'state', 'config.json'));
    const node = onNode();
    await expect(node.names()).rejects.toMatchObject({ code: 'EIO' });
    rmSync(join(folder, 'state', 'config.json'));
    expect(await node.names()).toEqual(['home']);
    expect(node.warnings).toEqual([]);
  });

  it('are those of the first file that is there', async () => {
    const files: readonly (readonly [string, unknown])[] = [
      ['home/.dockercfg', entry('oldest')],
      ['state/.dockercfg', entry('old')],
      ['home/.docker/config.json', { auths: entry('home') }],
      ['cwd/config.json', { auths: entry('work') }],
      ['state/config.json', { auths: entry('root') }],
    ];
    expect(await onNode().names()).toEqual([]);
    const found: unknown[] = [];
    for (const [path, content] of files) {
      write(path, content);
      found.push(...(await onNode().names()));
    }
    expect(found).toEqual(['oldest', 'old', 'home', 'work', 'root']);
  });

  it('are read again five minutes after they were read', async () => {
    write('state/config.json', { auths: entry('before') });
    const { scheduler, names } = onNode();
    const seen: unknown[] = [await names()];
    write('state/config.json', { auths: entry('after') });
    for (const minutes of [1, 299_999 / 60_000, 5]) {
      scheduler.now = () => minutes * 60_000;
      seen.push(await names());
    }
    expect(seen).toEqual([['before'], ['before'], ['before'], ['after']]);
  });

  it('that cannot be read are reported by file and field, and the next file is taken', async () => {
    write('state/config.json', { auths: { 'r.example.com': { auth: '!' } } });
    write('cwd/config.json', '{ "auths": { "r.example.com": { "password": "secret" ');
    mkdirSync(join(folder, 'home/.docker/config.json'), { recursive: true });
    write('home/.dockercfg', entry('fine'));
    const { names, warnings } = onNode();
    expect(await names()).toEqual(['fine']);
    expect(warnings).toEqual([
      { error: `${join(folder, 'state/config.json')}: auths["r.example.com"].auth: is not base64` },
      { error: `${join(folder, 'cwd/config.json')}: is not JSON` },
      { error: expect.stringContaining('EISDIR') as string },
    ]);
    expect(JSON.stringify(warnings)).not.toContain('secret');
  });

  it('are none without a file', async () => {
    const { names, warnings } = onNode();
    expect([await names(), warnings]).toEqual([[], []]);
  });
});
