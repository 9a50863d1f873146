import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, type Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mountPointsIn } from '../../../src/host/files/mount-points.js';
import { podFiles } from '../../../src/host/files/pod-files.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pod-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const at = (name: string): string => join(directory, name);
const value = <T>(value$: Observable<T>): Promise<T | undefined> => lastValueFrom(value$, { defaultValue: undefined });
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('a file that is written', () => {
  it('has the mode that was asked for, under any umask', async () => {
    const umask = process.umask(0o077);
    try {
      await value(podFiles.write(at('file'), 'content', 0o666));
    } finally {
      process.umask(umask);
    }
    expect(modeOf(at('file'))).toBe('666');
    expect(readFileSync(at('file'), 'utf8')).toBe('content');
  });

  it('stays the same file with new content', async () => {
    writeFileSync(at('file'), 'something longer', { mode: 0o600 });
    const before = statSync(at('file')).ino;
    await value(podFiles.write(at('file'), 'new', 0o644));
    expect(readFileSync(at('file'), 'utf8')).toBe('new');
    expect(statSync(at('file')).ino).toBe(before);
    expect(modeOf(at('file'))).toBe('644');
  });

  it('is not touched when it has that content already', async () => {
    await value(podFiles.write(at('file'), 'same', 0o644));
    const before = statSync(at('file'), { bigint: true }).mtimeNs;
    await value(podFiles.write(at('file'), 'same', 0o644));
    expect(statSync(at('file'), { bigint: true }).mtimeNs).toBe(before);
  });

  it('is named in the error when it cannot be written', async () => {
    await expect(value(podFiles.write(at('missing/file'), '', 0o644))).rejects.toThrow(at('missing/file'));
  });
});

describe('the end of a file', () => {
  it.each([
    { content: '', maxBytes: 4, tail: '' },
    { content: 'abc', maxBytes: 4, tail: 'abc' },
    { content: 'abcd', maxBytes: 4, tail: 'abcd' },
    { content: 'abcdef', maxBytes: 4, tail: 'cdef' },
  ])('of $content in $maxBytes bytes is $tail', async ({ content, maxBytes, tail }) => {
    writeFileSync(at('file'), content);
    const read = await value(podFiles.readTail(at('file'), maxBytes));
    expect(Buffer.from(read ?? []).toString()).toBe(tail);
  });

  it('is nothing when there is no file', async () => {
    expect(await value(podFiles.readTail(at('file'), 4))).toBeUndefined();
    expect(await value(podFiles.readTail(at('no/file'), 4))).toBeUndefined();
  });

  it('is refused for anything but a file, and a pipe does not hold up the reader', async () => {
    mkdirSync(at('directory'));
    execFileSync('mkfifo', [at('pipe')]);
    for (const name of ['directory', 'pipe']) {
      await expect(value(podFiles.readTail(at(name), 4))).rejects.toThrow(`${at(name)} is not a regular file`);
    }
  });
});

describe('mounts', () => {
  it('are found by the real path, at and below the directory', async () => {
    symlinkSync('/proc', at('link'));
    expect(await value(podFiles.mountsBelow(at('link')))).toContain('/proc');
    expect(await value(podFiles.mountsBelow('/'))).toEqual(expect.arrayContaining(['/', '/proc']));
    expect(await value(podFiles.mountsBelow(directory))).toEqual([]);
    expect(await value(podFiles.mountsBelow(at('missing')))).toEqual([]);
  });

  it('are read as the kernel writes them', () => {
    const info = [
      '22 1 0:21 / / rw - overlay overlay rw',
      '23 22 0:22 / /a\\040b\\011c\\134d\\012e rw,nosuid shared:7 - tmpfs tmpfs rw,size=64k',
      '',
    ].join('\n');
    expect(mountPointsIn(info)).toEqual(['/', '/a b\tc\\d\ne']);
  });
});
