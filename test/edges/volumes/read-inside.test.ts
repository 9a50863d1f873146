import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import { done, IS_ROOT, makeDirectory, volumeStage } from './volume-stage.js';

const { at } = volumeStage();
const MAX_BYTES = 100_000;

const read = async (path: string, files = volumeFiles(), maxBytes = MAX_BYTES): Promise<string> => {
  const content = await done(files.read(at('v'), path, maxBytes));
  return Buffer.from(content ?? []).toString();
};
const openFiles = (): number => readdirSync('/proc/self/fd').length;
const makeVolume = (): void => {
  writeFileSync(`${makeDirectory(at('v', 'a', 'b'))}/env`, 'inside');
  writeFileSync(`${makeDirectory(at('outside', 'b'))}/env`, 'secret');
};

describe('a file of a volume', () => {
  it('is read, also through links, to which the volume is the root directory, and closed', async () => {
    makeVolume();
    symlinkSync('a', at('v', 'link'));
    symlinkSync('../a/b/env', at('v', 'a', 'other'));
    symlinkSync('/a/b/env', at('v', 'a', 'absolute'));
    symlinkSync('/link', at('v', 'chain'));
    symlinkSync('../../../../a/./b//env', at('v', 'a', 'b', 'above'));
    writeFileSync(at('v', 'empty'), '');
    const before = openFiles();
    for (const path of ['a/b/env', './a//b/env', 'link/b/env', 'a/other', 'a/absolute', 'chain/b/env', 'a/b/above'])
      expect(await read(path)).toBe('inside');
    expect(await read('empty')).toBe('');
    expect(openFiles()).toBe(before);
  });

  it('has a limit of bytes', async () => {
    makeVolume();
    writeFileSync(at('v', 'large'), 'x'.repeat(MAX_BYTES));
    expect(await read('large')).toHaveLength(MAX_BYTES);
    writeFileSync(at('v', 'large'), 'x'.repeat(MAX_BYTES + 1));
    await expect(read('large')).rejects.toThrow(
      `${at('v', 'large')} is too large: expected at most ${MAX_BYTES} bytes`,
    );
    // A hole takes no place on the disk.
    truncateSync(at('v', 'large'), 2 ** 40);
    await expect(read('large')).rejects.toThrow('is too large');
  });

  it('is refused if it is larger than its size, as a file that grows meanwhile', async () => {
    makeVolume();
    const before = openFiles();
    let opened = 0;
    const growing = volumeFiles({
      beforeCall: (call) => {
        // The fifth one opens the file for reading; its size is known by then.
        if (call === 'open') opened += 1;
        if (opened === 5) writeFileSync(at('v', 'a', 'b', 'env'), 'x'.repeat(MAX_BYTES + 1));
      },
    });
    await expect(read('a/b/env', growing)).rejects.toThrow('is too large');
    expect(openFiles()).toBe(before);
  });

  it.each<[what: string, path: string, problem: string]>([
    ['the parent', '../outside/b/env', 'leads out of'],
    ['an absolute path', '/outside/b/env', 'leads out of'],
    ['a link to a file outside', 'out-file', 'ENOENT'],
    ['a path through a link to the outside', 'out/b/env', 'ENOENT'],
    ['a link upwards to the outside', 'up', 'ENOENT'],
    ['a link to a process', 'environment', 'ENOENT'],
    ['two links to each other', 'one', 'ELOOP'],
    ['a broken link', 'broken', 'ENOENT'],
    ['a link to itself', 'loop', 'ELOOP'],
    ['a missing file', 'a/none', 'ENOENT'],
    ['a path through a file', 'a/b/env/x', 'ENOTDIR'],
    ['a directory', 'a', 'is not a regular file'],
    ['the volume', '.', 'is not a regular file'],
    ['a pipe', 'pipe', 'is not a regular file'],
    ['a link to a pipe', 'to-pipe', 'is not a regular file'],
    ['a socket', 'socket', 'is not a regular file'],
  ])('is refused where it is %s', async (_what, path, problem) => {
    makeVolume();
    symlinkSync(at('outside'), at('v', 'out'));
    symlinkSync(at('outside', 'b', 'env'), at('v', 'out-file'));
    symlinkSync('../outside/b/env', at('v', 'up'));
    symlinkSync('/proc/self/environ', at('v', 'environment'));
    symlinkSync('/two', at('v', 'one'));
    symlinkSync('one', at('v', 'two'));
    symlinkSync('none', at('v', 'broken'));
    symlinkSync('loop', at('v', 'loop'));
    execFileSync('mkfifo', [at('v', 'pipe')]);
    symlinkSync('pipe', at('v', 'to-pipe'));
    const server = createServer().listen(at('v', 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    const before = openFiles();
    const error = await read(path).then(
      (content) => new Error(`it has read ${content}`),
      (thrown: unknown) => thrown as Error,
    );
    expect(openFiles()).toBe(before);
    await new Promise((resolve) => server.close(resolve));
    expect(error.message).toContain(problem);
    expect(error.message).not.toContain('secret');
  });

  it.runIf(IS_ROOT).each(['c', 'b'])(
    'is refused where it is a device of kind %s, which is not opened',
    async (kind) => {
      makeVolume();
      // No driver has this number: opening it would fail with ENXIO or ENODEV.
      execFileSync('mknod', [at('v', 'device'), kind, '511', '1023']);
      await expect(read('device')).rejects.toThrow(`${at('v', 'device')} is not a regular file`);
    },
  );
});

describe('a container that swaps', () => {
  const untilUnswapped = async (path: string, swap: () => void, isFine: (read: string) => boolean): Promise<number> => {
    for (let swapAt = 1; ; swapAt += 1) {
      rmSync(at('v'), { recursive: true, force: true });
      rmSync(at('outside'), { recursive: true, force: true });
      makeVolume();
      let count = 0;
      const watched = volumeFiles({
        beforeCall: () => {
          count += 1;
          if (count === swapAt) swap();
        },
      });
      const result = await read(path, watched).catch((error: unknown) => String(error));
      expect(result).not.toContain('secret');
      expect(isFine(result)).toBe(true);
      if (count < swapAt) return swapAt;
    }
  };

  it('a directory and a link to the outside before any call of the agent gets nothing of the outside', async () => {
    const swap = (): void => {
      renameSync(at('v', 'a'), at('v', 'aside'));
      symlinkSync(at('outside'), at('v', 'a'));
    };
    expect(
      await untilUnswapped('a/b/env', swap, (text) => text === 'inside' || text.includes(at('v'))),
    ).toBeGreaterThan(5);
  });

  it('a file and a link, a pipe or a directory before any call of the agent is refused or has its old file', async () => {
    for (const put of [
      (path: string) => symlinkSync(at('outside', 'b', 'env'), path),
      (path: string) => void execFileSync('mkfifo', [path]),
      (path: string) => mkdirSync(path),
    ]) {
      const swap = (): void => {
        rmSync(at('v', 'a', 'b', 'env'));
        put(at('v', 'a', 'b', 'env'));
      };
      const count = await untilUnswapped('a/b/env', swap, (text) => text === 'inside' || text.includes(at('v')));
      expect(count).toBeGreaterThan(5);
    }
  });
});
