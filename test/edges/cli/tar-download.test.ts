import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readArchive, tarDownload } from '../../../src/cli/local/tar-download.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rx-kubelet-download-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A wait without an end is the fault that is looked for. */
const HANG_MS = 30_000;

/** Downloads a folder of this folder, which `tar` reads with these flags. */
const download = async (name: string, target: string, ...flags: readonly string[]) => {
  const [warnings, failures]: [string[], string[]] = [[], []];
  const archive = readArchive();
  const written = tarDownload(archive, {
    ...{ copied: name, target: join(folder, target) },
    warn: (line) => warnings.push(line),
    fail: (line) => failures.push(line),
  });
  const { stdout } = spawnSync('tar', [...flags, '-cf', '-', '-C', folder, name], {
    env: { ...process.env, LC_ALL: 'C' },
  });
  archive.end(stdout);
  await written;
  return { warnings, failures };
};

const modeOf = (...names: readonly string[]): number => statSync(join(folder, ...names)).mode & 0o7777;

it('a download keeps the modes of folders that it makes, and those of folders that exist', async () => {
  for (const [name, mode] of [
    ['tree', 0o777],
    ['tree/closed', 0o500],
    ['tree/shared', 0o1770],
    ['tree/old', 0o777],
    ['copy', 0o700],
    ['copy/old', 0o700],
  ] as const) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), mode);
  }
  writeFileSync(join(folder, 'tree', 'closed', 'key'), 'key');
  expect(await download('tree', 'copy')).toEqual({ warnings: [], failures: [] });
  expect(readdirSync(join(folder, 'copy', 'closed'))).toEqual(['key']);
  const umask = process.umask();
  expect(modeOf('copy', 'closed')).toBe(0o500 & ~umask);
  expect(modeOf('copy', 'shared')).toBe(0o770 & ~umask);
  expect([modeOf('copy'), modeOf('copy', 'old')]).toEqual([0o700, 0o700]);
});

it('a download leaves out a further name of a symlink, and has the files behind it', async () => {
  mkdirSync(join(folder, 'tree'));
  symlinkSync('nowhere', join(folder, 'tree', 'one'));
  linkSync(join(folder, 'tree', 'one'), join(folder, 'tree', 'two'));
  writeFileSync(join(folder, 'tree', 'z'), 'z');
  expect(lstatSync(join(folder, 'tree', 'two')).isSymbolicLink()).toBe(true);
  const { warnings, failures } = await download('tree', 'copy', '--sort=name');
  expect(warnings).toEqual([
    `warning: skipping symlink: "${folder}/copy/one" -> "nowhere"`,
    `warning: skipping link: "${folder}/copy/two" -> "${folder}/copy/one"`,
  ]);
  expect([readdirSync(join(folder, 'copy')), failures]).toEqual([['z'], []]);
});

it('a download of the format pax names a file whose name is not UTF-8, and has the others', async () => {
  mkdirSync(join(folder, 'tree'));
  writeFileSync(Buffer.from(`${folder}/tree/b\xe9`, 'latin1'), 'b');
  for (const name of ['ä', 'z']) writeFileSync(join(folder, 'tree', name), name);
  const { warnings, failures } = await download('tree', 'copy', '--format=pax');
  expect(readdirSync(join(folder, 'copy'))).toEqual(['z', 'ä']);
  const lost = '"tree/b\uFFFD"';
  expect([warnings, failures]).toEqual([
    [],
    [`cannot copy ${lost}: the archive has a name of the format pax that is not UTF-8`],
  ]);
});

it('a download fails when the archive is cut off before its first file is open', { timeout: HANG_MS }, async () => {
  const whole = pack();
  whole.entry({ name: 'tmp/big' }, Buffer.alloc(1_000_000));
  whole.finalize();
  const archive = readArchive();
  const nothing = { warn: () => undefined, fail: () => undefined };
  const written = tarDownload(archive, { copied: '/tmp/big', target: join(folder, 'big'), ...nothing });
  // The folder may be there by then; then the file is being written.
  const rejected = expect(written).rejects.toThrow(/^the (archive ended within a file|copy has ended)$/);
  archive.write((await buffer(whole)).subarray(0, 20_000));
  await turn();
  archive.destroy(new Error('the copy has ended'));
  await rejected;
});
