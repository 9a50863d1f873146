import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TarUpload, tarUpload } from '../../../src/cli/local/tar-upload.js';

let folder: string;
let target: string;
let failures: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rx-kubelet-upload-'));
  target = join(folder, 'target');
  mkdirSync(target);
  failures = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const MEBIBYTE = 2 ** 20;

const archiveOf = (path: string, folders: TarUpload['folders'] = 'all'): Readable =>
  tarUpload({ ...{ path, name: 'copy', folders }, warn: () => undefined, fail: (line) => failures.push(line) });

const extract = (archive: Buffer): void => {
  const { status, stderr } = spawnSync('tar', ['-xmf', '-', '-C', target], { input: archive, maxBuffer: MEBIBYTE });
  expect([status, stderr.toString()]).toEqual([0, '']);
};

const upload = async (...args: Parameters<typeof archiveOf>): Promise<void> =>
  extract(await buffer(archiveOf(...args)));

/** Uploads a path that `change` changes when the first piece of the archive is read. */
const uploadDuring = async (path: string, change: () => void): Promise<void> => {
  const pieces: Buffer[] = [];
  for await (const piece of archiveOf(path) as AsyncIterable<Buffer>) {
    if (pieces.length === 0) change();
    pieces.push(piece);
  }
  extract(Buffer.concat(pieces));
};

it('an upload of an empty file ends, also in a folder', async () => {
  const [file, tree] = [join(folder, 'e'), join(folder, 'tree')];
  writeFileSync(file, '');
  await upload(file);
  expect(statSync(join(target, 'copy')).size).toBe(0);
  rmSync(join(target, 'copy'));
  mkdirSync(tree);
  for (const [name, content] of [
    ['a', 'a'],
    ['b', ''],
    ['c', 'c'],
  ] as const)
    writeFileSync(join(tree, name), content);
  await upload(tree);
  expect(['a', 'b', 'c'].map((name) => readFileSync(join(target, 'copy', name), 'utf8'))).toEqual(['a', '', 'c']);
  expect(failures).toEqual([]);
});

it.each(['/proc/version', '/sys/class/net/lo/mtu'])(
  'an upload of %s, whose size is not that of its content, has the content',
  async (path) => {
    const content = readFileSync(path, 'utf8');
    expect(content.length).not.toBe(statSync(path).size);
    await upload(path);
    expect(readFileSync(join(target, 'copy'), 'utf8')).toBe(content);
    expect(failures).toEqual([]);
  },
);

it('an upload of a file that cannot be read names it and has the others', async () => {
  const tree = join(folder, 'tree');
  mkdirSync(tree);
  for (const name of ['a', 'c']) writeFileSync(join(tree, name), Buffer.alloc(MEBIBYTE, name));
  writeFileSync(Buffer.from(`${tree}/b\xe9`, 'latin1'), 'b');
  await uploadDuring(tree, () => rmSync(Buffer.from(`${tree}/b\xe9`, 'latin1')));
  expect(readdirSync(join(target, 'copy'))).toEqual(['a', 'c']);
  expect(failures).toEqual([`cannot copy "${tree}/b\\xe9": ENOENT: no such file or directory, lstat`]);
});

it('an upload of a file that becomes shorter ends with zeros and names the file', async () => {
  const path = join(folder, 'log');
  writeFileSync(path, Buffer.alloc(3 * MEBIBYTE + 1, 'x'));
  await uploadDuring(path, () => truncateSync(path, MEBIBYTE));
  const copy = readFileSync(join(target, 'copy'));
  const kept = copy.indexOf(0);
  expect(copy.length).toBe(3 * MEBIBYTE + 1);
  expect(copy.subarray(0, kept).every((byte) => byte === 0x78)).toBe(true);
  expect(copy.subarray(kept).every((byte) => byte === 0)).toBe(true);
  const zeros = copy.length - kept;
  expect(failures).toEqual([
    `cannot copy ${JSON.stringify(path)}: it became shorter during the copy; its copy ends with ${zeros} zeros`,
  ]);
});

it('an upload of a file that becomes longer has the content of its first size', async () => {
  const path = join(folder, 'log');
  writeFileSync(path, Buffer.alloc(MEBIBYTE, 'x'));
  await uploadDuring(path, () => writeFileSync(path, Buffer.alloc(MEBIBYTE, 'y'), { flag: 'a' }));
  expect(readFileSync(join(target, 'copy')).equals(Buffer.alloc(MEBIBYTE, 'x'))).toBe(true);
  expect(failures).toEqual([]);
});

it.each([
  ['all', 0o750, 0o700],
  ['inner', 0o777, 0o700],
  ['empty', 0o777, 0o777],
] as const)('an upload of %s folders changes the modes of these in the container', async (folders, copied, below) => {
  const tree = join(folder, 'tree');
  for (const [path, mode] of [
    [tree, 0o750],
    [join(tree, 'private'), 0o700],
    [join(target, 'copy'), 0o777],
    [join(target, 'copy', 'private'), 0o777],
  ] as const) {
    mkdirSync(path);
    chmodSync(path, mode);
  }
  writeFileSync(join(tree, 'private', 'key'), 'key');
  await upload(tree, folders);
  const modes = ['copy', 'copy/private'].map((name) => statSync(join(target, name)).mode & 0o777);
  expect(modes).toEqual([copied, below]);
  expect(readFileSync(join(target, 'copy', 'private', 'key'), 'utf8')).toBe('key');
});
