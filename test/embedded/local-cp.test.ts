import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Daemon, it } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';

const MEBIBYTE = 2 ** 20;
const BIG = 100 * MEBIBYTE;
/** Prints the largest resident memory of a process at its end, in KiB. */
const PEAK = "process.on('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS + '\\n'))";
/** 100 MiB in memory would be more. */
const MORE_AT_MOST = (80 * MEBIBYTE) / 1024;

const sum = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

const started = async (daemon: Daemon): Promise<void> => {
  daemon.apply({ name: 'web' });
  await daemon.start();
  await eventually('the pod runs', async () => (await daemon.shownPods())[0]?.status?.phase === 'Running');
};

/** Makes a folder in the folder of the test, which a container of the embedded runtime sees, too. */
const folder = (daemon: Daemon, name: string): string => {
  const path = join(daemon.directory, name);
  mkdirSync(path, { recursive: true });
  return path;
};

const copy = (daemon: Daemon, ...args: readonly string[]) => daemon.run('cp', '--root-dir', daemon.rootDir, ...args);

describe.concurrent('cp without a cluster', () => {
  it('copies 100 MiB in both directions, unchanged and without holding them', async ({ daemon }) => {
    await started(daemon);
    const [here, there] = [folder(daemon, 'here'), folder(daemon, 'there')];
    const block = randomBytes(MEBIBYTE);
    writeFileSync(join(here, 'big'), Buffer.concat(Array.from({ length: BIG / MEBIBYTE }, () => block)));
    writeFileSync(join(here, 'small'), 'x');
    daemon.preload = { args: ['--import', `data:text/javascript,${encodeURIComponent(PEAK)}`], env: {} };
    const peakOf = async (source: string, target: string): Promise<number> => {
      const { code, stderr } = await copy(daemon, source, target);
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^(tar: Removing leading .*\n)?peak \d+\n$/)]);
      return Number(/peak (\d+)/.exec(stderr)?.[1]);
    };
    const least = await peakOf(join(here, 'small'), `web:${there}/small`);
    const peaks = [
      await peakOf(join(here, 'big'), `web:${there}/big`),
      await peakOf(`default/web-node1:${there}/big`, join(here, 'back')),
    ];
    expect(sum(join(there, 'big'))).toBe(sum(join(here, 'big')));
    expect(statSync(join(here, 'back')).size).toBe(BIG);
    expect(sum(join(here, 'back'))).toBe(sum(join(here, 'big')));
    expect(least).toBeGreaterThan(0);
    for (const peak of peaks) expect(peak - least).toBeLessThan(MORE_AT_MOST);
  });

  it('copies folders with their modes, and links as kubectl does', async ({ daemon }) => {
    await started(daemon);
    const [here, there] = [folder(daemon, 'here/site'), folder(daemon, 'there')];
    folder(daemon, 'here/site/empty');
    writeFileSync(join(here, 'a b'), 'text');
    writeFileSync(join(here, 'run'), '#!/bin/sh\n');
    chmodSync(join(here, 'run'), 0o755);
    symlinkSync('run', join(here, 'link'));
    expect(await copy(daemon, here, `web:${there}`)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readdirSync(join(there, 'site')).toSorted()).toEqual(['a b', 'empty', 'link', 'run']);
    const back = join(daemon.directory, 'back');
    const result = await copy(daemon, `web:${there}/site`, back, '-c', 'main');
    expect(result.code).toBe(0);
    expect(result.stderr).toContain(`warning: skipping symlink: "${back}/link" -> "run"\n`);
    expect(readdirSync(back).toSorted()).toEqual(['a b', 'empty', 'run']);
    expect(readFileSync(join(back, 'a b'), 'utf8')).toBe('text');
    expect(statSync(join(back, 'run')).mode & 0o111).not.toBe(0);
    expect(await copy(daemon, `web:${there}/site/run`, join(back, 'empty'))).toMatchObject({ code: 0 });
    expect(readdirSync(join(back, 'empty'))).toEqual(['run']);
  });

  it('cp copies empty files, names that are not UTF-8 and the modes of folders, in both directions', async ({
    daemon,
  }) => {
    await started(daemon);
    const [here, there] = [folder(daemon, 'here/tree'), folder(daemon, 'there')];
    const names = ['e', 'f\xe8', 'f\xe9', 'private'];
    for (const name of names.slice(0, 3)) {
      writeFileSync(Buffer.from(`${here}/${name}`, 'latin1'), name === 'e' ? '' : name, 'latin1');
    }
    mkdirSync(join(here, 'private'), { mode: 0o700 });
    writeFileSync(join(here, 'private', 'key'), 'key');
    expect(await copy(daemon, here, `web:${there}`)).toEqual({ code: 0, stdout: '', stderr: '' });
    const back = join(daemon.directory, 'back');
    expect((await copy(daemon, `web:${there}/tree`, back)).code).toBe(0);
    for (const tree of [join(there, 'tree'), back]) {
      expect(readdirSync(tree, { encoding: 'latin1' }).toSorted()).toEqual(names);
      const contents = names
        .slice(0, 3)
        .map((name) => readFileSync(Buffer.from(`${tree}/${name}`, 'latin1'), 'latin1'));
      expect(contents).toEqual(['', 'f\xe8', 'f\xe9']);
      expect(statSync(join(tree, 'private')).mode & 0o777).toBe(0o700);
    }
    expect(await copy(daemon, join(here, 'e'), `web:${there}/alone`)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(statSync(join(there, 'alone')).size).toBe(0);
  });

  it('copies in both directions whose far side stalls end with the agent', async ({ daemon }) => {
    const bin = folder(daemon, 'bin');
    const begun = join(daemon.directory, 'begun');
    writeFileSync(join(bin, 'tar'), `#!/bin/sh\necho >> '${begun}'\nexec sleep 100000\n`, { mode: 0o755 });
    const env = [{ name: 'PATH', value: `${bin}:${process.env.PATH}` }];
    daemon.apply({ name: 'web', containers: [{ script: SLEEP, env }] });
    await daemon.start();
    await eventually('the pod runs', async () => (await daemon.shownPods())[0]?.status?.phase === 'Running');
    writeFileSync(join(daemon.directory, 'big'), Buffer.alloc(20 * MEBIBYTE));
    const copies = [
      copy(daemon, join(daemon.directory, 'big'), 'web:/tmp/big'),
      copy(daemon, 'web:/tmp/big', join(daemon.directory, 'back')),
    ];
    await eventually('both copies have begun', () => existsSync(begun) && readFileSync(begun).length === copies.length);
    await daemon.kill('SIGKILL');
    for (const { code, stderr } of await Promise.all(copies)) {
      expect([code, stderr]).toEqual([1, 'Error: the connection was closed before the end was reported\n']);
    }
  });

  it('takes a path that begins with a dash for a path, in both directions', async ({ daemon }) => {
    daemon.apply({ name: 'web', containers: [{ script: SLEEP, workingDir: daemon.directory }] });
    await daemon.start();
    await eventually('the pod runs', async () => (await daemon.shownPods())[0]?.status?.phase === 'Running');
    const [name, here] = ['--remove-files', join(daemon.directory, 'here')];
    writeFileSync(here, 'text');
    expect(await copy(daemon, here, `web:${name}`)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(join(daemon.directory, name), 'utf8')).toBe('text');
    const back = join(daemon.directory, 'back');
    expect(await copy(daemon, `web:${name}`, back)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readFileSync(back, 'utf8')).toBe('text');
  });

  it('has errors for paths that are missing', async ({ daemon }) => {
    await started(daemon);
    expect(await copy(daemon, '/no/such', 'web:/tmp')).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: "Error: /no/such doesn't exist in local filesystem\n",
    });
    const download = await copy(daemon, `web:${daemon.directory}/none`, join(daemon.directory, 'x'));
    expect(download.code).toBe(1);
    expect(download.stderr).toMatch(/No such file or directory\n(.*\n)*Error: command terminated with exit code 2\n$/);
    writeFileSync(join(daemon.directory, 'f'), 'f');
    const upload = await copy(daemon, join(daemon.directory, 'f'), `web:${daemon.directory}/none/f`);
    expect(upload.code).toBe(1);
    expect(upload.stderr).toMatch(/Error: command terminated with exit code 2\n$/);
    const unwritable = await copy(daemon, `web:${daemon.directory}/f`, join(daemon.directory, 'f', 'x'));
    expect(unwritable.code).toBe(1);
    expect(unwritable.stderr).toMatch(/Error: E(NOTDIR|EXIST): /);
  });
});
