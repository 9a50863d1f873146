import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDirectories, makeDirectoriesSync } from '../../../src/processes/make-directories.js';

let directory: string;
const at = (...names: readonly string[]): string => join(directory, ...names);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rx-directories-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const BOTH = [
  ['later', makeDirectories],
  ['at once', async (...request: Parameters<typeof makeDirectoriesSync>) => makeDirectoriesSync(...request)],
] as const;

describe.each(BOTH)('a directory that is made %s', (_when, makeDirectories) => {
  it('is made with those above it, and the first of them is returned', async () => {
    expect(await makeDirectories(at('a/b/c'), 0o700)).toBe(at('a'));
    expect(['a', 'a/b', 'a/b/c'].map((name) => statSync(at(name)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
    expect(await makeDirectories(at('a/b/d'), 0o700)).toBe(at('a/b/d'));
    expect(await makeDirectories(at('a/b'), 0o700)).toBeUndefined();
  });

  it('is refused below a file, and at one', async () => {
    writeFileSync(at('file'), '');
    await expect(makeDirectories(at('file/b/c'), 0o700)).rejects.toThrow(/^ENOTDIR/);
    await expect(makeDirectories(at('file'), 0o700)).rejects.toThrow(/^EEXIST/);
  });
});

const forRoot = describe.runIf(process.geteuid?.() === 0);

forRoot.each(BOTH)('a directory that is made %s on a read-only disk', (_when, makeDirectories) => {
  beforeEach(() => {
    mkdirSync(at('disk'));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', at('disk')]);
    mkdirSync(at('disk/there'));
    execFileSync('mount', ['-o', 'remount,ro', at('disk')]);
  });
  afterEach(() => void execFileSync('umount', [at('disk')]));

  it.each(['a', 'a/b', 'there/a/b'])(
    'is refused with the error of the kernel, which names the first one: %s',
    async (path) => {
      const first = path.replace(/\/b$/, '');
      await expect(makeDirectories(at('disk', path), 0o700)).rejects.toThrow(
        `EROFS: read-only file system, mkdir '${at('disk', first)}'`,
      );
    },
  );

  it('that exists is fine', async () => {
    expect(await makeDirectories(at('disk/there'), 0o700)).toBeUndefined();
  });
});
