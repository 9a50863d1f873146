import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile, replaceFileSync } from '../../../src/processes/replace-file.js';

let directory: string;
const at = (...names: readonly string[]): string => join(directory, ...names);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rx-replace-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const BOTH = [
  ['later', replaceFile],
  ['at once', async (...request: Parameters<typeof replaceFileSync>) => replaceFileSync(...request)],
] as const;

describe.each(BOTH)('a file that is replaced %s', (_when, replace) => {
  it('has the content and the mode, under any umask, and nothing stays beside it', async () => {
    const umask = process.umask(0o077);
    try {
      await replace(at('a/b/file'), 'first', { mode: 0o644, directoryMode: 0o755 });
      await replace(at('a/b/file'), Buffer.from('second'), { mode: 0o640 });
    } finally {
      process.umask(umask);
    }
    expect(readFileSync(at('a/b/file'), 'utf8')).toBe('second');
    expect(statSync(at('a/b/file')).mode & 0o777).toBe(0o640);
    expect(readdirSync(at('a/b'))).toEqual(['file']);
  });

  it('is that at the end of a link', async () => {
    mkdirSync(at('real'));
    await replace(at('real/file'), 'first', { mode: 0o600 });
    symlinkSync('real/file', at('link'));
    await replace(at('link'), 'second', { mode: 0o600 });
    expect(readlinkSync(at('link'))).toBe('real/file');
    expect(readFileSync(at('real/file'), 'utf8')).toBe('second');
  });

  it('stays whole beside replacements at the same time', async () => {
    const texts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(300_000));
    await Promise.all(texts.map((text) => replace(at('file'), text, { mode: 0o600 })));
    expect(texts).toContain(readFileSync(at('file'), 'utf8'));
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it('is refused in place of a directory, which stays', async () => {
    mkdirSync(at('place'));
    await expect(replace(at('place'), 'text', { mode: 0o600 })).rejects.toThrow(/^EISDIR.*rename/);
    expect(readdirSync(directory)).toEqual(['place']);
  });
});

const forRoot = describe.runIf(process.geteuid?.() === 0);

forRoot.each(BOTH)('a file that is replaced %s on a disk with too little room', (_when, replace) => {
  beforeEach(() => {
    mkdirSync(at('disk'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', at('disk')]);
  });
  afterEach(() => void execFileSync('umount', [at('disk')]));

  // The kernel takes the part of the content for which there is room, and reports its length.
  it('stays as it was', async () => {
    await replace(at('disk/file'), 'old'.repeat(5_000), { mode: 0o600 });
    await expect(replace(at('disk/file'), 'new'.repeat(50_000), { mode: 0o600 })).rejects.toThrow(/^ENOSPC/);
    expect(readFileSync(at('disk/file'), 'utf8')).toBe('old'.repeat(5_000));
    expect(readdirSync(at('disk'))).toEqual(['file']);
  });
});
