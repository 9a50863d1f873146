import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import { done, IS_ROOT, killEverywhere, makeDirectory, modeOf, visibleIn, volumeStage } from './volume-stage.js';

const { at } = volumeStage();
const files = volumeFiles();
const make = (path: string, source?: string) =>
  done(files.makeMountPoint({ directory: makeDirectory(at('v')), path, ...(source !== undefined && { source }) }));

describe('a mount point in a volume', () => {
  it('a mount point is a directory for a directory, a missing source and an image, and is made once', async () => {
    await make('a/b', makeDirectory(at('source')));
    await make('missing', at('no', 'source'));
    await make('image');
    await make('a/b', at('source'));
    expect(visibleIn(at('v'))).toEqual(['a', 'image', 'missing']);
    expect([modeOf(at('v', 'a')), modeOf(at('v', 'a', 'b')), readdirSync(at('v', 'a'))]).toEqual(['755', '755', ['b']]);
  });

  it('a mount point is an empty file for a file and a pipe, and a file that is there keeps its content', async () => {
    writeFileSync(at('source'), 'content');
    execFileSync('mkfifo', [at('pipe')]);
    await make('deep/file', at('source'));
    await make('pipe', at('pipe'));
    writeFileSync(at('v', 'there'), 'kept');
    await make('there', at('source'));
    expect(['deep/file', 'pipe', 'there'].map((path) => lstatSync(at('v', path)).size)).toEqual([0, 0, 4]);
    expect(modeOf(at('v', 'deep', 'file'))).toBe('644');
  });

  it.each([
    ['link', 'a link'],
    ['link/below', 'the way over a link'],
    ['file/below', 'the way over a file'],
    ['broken', 'a broken link'],
  ])('nothing is made at %s, which is %s', async (path) => {
    makeDirectory(at('v'));
    symlinkSync(makeDirectory(at('outside')), at('v', 'link'));
    symlinkSync(at('outside', 'missing'), at('v', 'broken'));
    writeFileSync(at('v', 'file'), '');
    writeFileSync(at('source'), '');
    for (const source of [undefined, at('source')]) await make(path, source);
    expect(readdirSync(at('outside'))).toEqual([]);
    expect(visibleIn(at('v'))).toEqual(['broken', 'file', 'link']);
  });

  it('nothing is made in a sub-path that is a file', async () => {
    writeFileSync(at('file'), 'kept');
    await done(files.makeMountPoint({ directory: at('file'), path: 'a' }));
    expect(lstatSync(at('file')).size).toBe(4);
  });

  it('an error names the path in the volume', async () => {
    const name = 'n'.repeat(256);
    writeFileSync(at('source'), '');
    for (const source of [undefined, at('source')])
      await expect(make(`a/${name}`, source)).rejects.toThrow(at('v', 'a', name));
  });

  it.each(['a/b/c', 'a/b/f'])('a kill before any call leaves what the next call completes: %s', async (path) => {
    writeFileSync(at('f'), '');
    const setup = { directory: at('v'), path, source: path.endsWith('f') ? at('f') : at() };
    const kills = await killEverywhere(
      async () => {
        rmSync(at('v'), { recursive: true, force: true });
        mkdirSync(at('v'));
      },
      (killed) => killed.makeMountPoint(setup),
      async () => {
        await done(files.makeMountPoint(setup));
        expect(lstatSync(at('v', path)).isFile()).toBe(path.endsWith('f'));
      },
    );
    expect(kills).toBeGreaterThan(5);
  });

  it.runIf(IS_ROOT)(
    'a container that exchanges a directory for a link before any call gets nothing outside',
    async () => {
      for (let swapAt = 1, isSwapped = true; isSwapped; swapAt += 1) {
        makeDirectory(at('v', 'a'));
        symlinkSync(makeDirectory(at('outside')), at('v', 'link'));
        let count = 0;
        isSwapped = false;
        const watched = volumeFiles({
          beforeCall: () => {
            count += 1;
            if (count !== swapAt) return;
            renameSync(at('v', 'a'), at('v', 'aside'));
            renameSync(at('v', 'link'), at('v', 'a'));
            isSwapped = true;
          },
        });
        await done(watched.makeMountPoint({ directory: at('v'), path: 'a/b/c' }));
        expect(readdirSync(at('outside'))).toEqual([]);
        expect(existsSync(at('v', 'aside', 'b')) || existsSync(at('v', 'a', 'b')) || isSwapped).toBe(true);
        rmSync(at('v'), { recursive: true });
      }
    },
  );
});
