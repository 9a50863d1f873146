import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import {
  done,
  filesOf,
  IS_ROOT,
  killEverywhere,
  makeDirectory,
  modeOf,
  mountsBelow,
  volumeStage,
} from './volume-stage.js';

const { at } = volumeStage();
const files = volumeFiles();
const setupOf = (subPath: string) => ({
  volumeDirectory: at('v'),
  subPath,
  target: at('volume-subpaths', 'v', 'c', '0'),
});
const bind = (subPath: string) => done(files.bindSubPath(setupOf(subPath)));
const target = (...names: readonly string[]): string => at('volume-subpaths', 'v', 'c', '0', ...names);
const unbind = () => done(files.unbindSubPaths(at('volume-subpaths', 'v')));
const makeVolume = (): void => {
  writeFileSync(`${makeDirectory(at('v', 'a', 'b'))}/inside`, '');
  writeFileSync(`${makeDirectory(at('outside', 'b'))}/secret`, '');
};

describe.runIf(IS_ROOT)('a sub-path', () => {
  it('is bound once, and leaves nothing', async () => {
    makeVolume();
    await bind('a/b');
    await bind('./a//b');
    expect(readdirSync(target())).toEqual(['inside']);
    expect(mountsBelow(at())).toEqual([target()]);
    await unbind();
    expect(mountsBelow(at())).toEqual([]);
    expect(existsSync(at('volume-subpaths'))).toBe(false);
    expect(readdirSync(at('v', 'a', 'b'))).toEqual(['inside']);
    await unbind();
  });

  it('may be a file behind the links of the agent, and is the newest file for the next container', async () => {
    makeDirectory(at('v'));
    await done(files.write(at('v'), filesOf({ key: 'old' })));
    await bind('key');
    expect([readFileSync(target(), 'utf8'), modeOf(at('volume-subpaths', 'v', 'c'))]).toEqual(['old', '750']);
    await done(files.write(at('v'), filesOf({ key: 'new' })));
    expect(readFileSync(target(), 'utf8')).toBe('old');
    await bind('key');
    expect(readFileSync(target(), 'utf8')).toBe('new');
    expect(mountsBelow(at())).toEqual([target()]);
    await unbind();
  });

  it('may be a pipe, which is not opened', async () => {
    makeVolume();
    execFileSync('mkfifo', [at('v', 'pipe')]);
    await bind('pipe');
    expect(lstatSync(target()).isFIFO()).toBe(true);
  });

  it('is made with the mode of the volume if it is missing, under any umask', async () => {
    makeVolume();
    execFileSync('chmod', ['2770', at('v')]);
    const umask = process.umask(0o077);
    try {
      await bind('a/new/deep');
    } finally {
      process.umask(umask);
    }
    expect([modeOf(at('v', 'a', 'new')), modeOf(at('v', 'a', 'new', 'deep'))]).toEqual(['2770', '2770']);
    writeFileSync(at('v', 'a', 'new', 'deep', 'file'), '');
    expect(readdirSync(target())).toEqual(['file']);
  });

  it.each([
    ['the parent', '../outside'],
    ['a link to the outside', 'out'],
    ['a path through such a link', 'out/b'],
    ['a new directory behind such a link', 'out/new'],
    ['a new directory behind a broken link', 'broken/new'],
    ['a broken link', 'broken'],
    ['a path through a file', 'file/x'],
    ['a link to itself', 'loop'],
    ['an absolute path', '/outside'],
  ])('is refused where it is %s', async (_, subPath) => {
    makeVolume();
    symlinkSync(at('outside'), at('v', 'out'));
    symlinkSync(at('outside', 'missing'), at('v', 'broken'));
    symlinkSync('loop', at('v', 'loop'));
    writeFileSync(at('v', 'file'), '');
    await expect(bind(subPath)).rejects.toThrow(at('v'));
    expect(mountsBelow(at())).toEqual([]);
    expect([readdirSync(at('outside')), readdirSync(at('outside', 'b'))]).toEqual([['b'], ['secret']]);
  });

  it('is the right one again after another was bound in its place', async () => {
    makeVolume();
    await bind('a');
    await bind('a/b/inside');
    expect(statSync(target()).isFile()).toBe(true);
    await bind('a');
    expect(readdirSync(target())).toEqual(['b']);
    expect(mountsBelow(at())).toEqual([target()]);
  });

  it('is bound after a kill at any point and another call', async () => {
    const setup = setupOf('a/new/deep');
    const kills = await killEverywhere(
      async () => {
        await unbind();
        rmSync(at('v'), { recursive: true, force: true });
        makeVolume();
        execFileSync('chmod', ['777', at('v')]);
      },
      (killed) => killed.bindSubPath(setup),
      async () => {
        await done(files.bindSubPath(setup));
        expect(mountsBelow(at())).toEqual([target()]);
        expect([modeOf(at('v', 'a', 'new')), modeOf(target())]).toEqual(['777', '777']);
      },
    );
    expect(kills).toBeGreaterThan(10);
  });

  it('is gone after a kill at any point of its removal and another call', async () => {
    makeVolume();
    const kills = await killEverywhere(
      () => bind('a/b').then(() => undefined),
      (killed) => killed.unbindSubPaths(at('volume-subpaths', 'v')),
      async () => {
        await unbind();
        expect(mountsBelow(at())).toEqual([]);
        expect(existsSync(at('volume-subpaths'))).toBe(false);
      },
    );
    expect(kills).toBeGreaterThan(8);
    expect(existsSync(at('v', 'a', 'b', 'inside'))).toBe(true);
  });
});

describe.runIf(IS_ROOT)('a sub-path of a volume on a shared mount', () => {
  const share = (): void => {
    execFileSync('mount', ['-t', 'tmpfs', 'shared', makeDirectory(at('v'))]);
    execFileSync('mount', ['--make-shared', at('v')]);
    makeDirectory(at('v', 'a', 'point'));
  };
  const mountOn = (path: string): void => {
    execFileSync('mount', ['-t', 'tmpfs', 'later', path]);
    writeFileSync(`${path}/file`, 'of the machine');
  };

  it('is gone with the mount of the machine that appears in it later, which the machine keeps', async () => {
    share();
    await bind('a');
    mountOn(at('v', 'a', 'point'));
    execFileSync('mount', ['-t', 'tmpfs', 'inner', makeDirectory(at('v', 'a', 'point', 'inner'))]);
    expect(mountsBelow(target())).toEqual([target(), target('point'), target('point', 'inner')]);
    await unbind();
    expect(mountsBelow(at())).toEqual([at('v'), at('v', 'a', 'point'), at('v', 'a', 'point', 'inner')]);
    expect(readFileSync(at('v', 'a', 'point', 'file'), 'utf8')).toBe('of the machine');
    expect(existsSync(at('volume-subpaths'))).toBe(false);
  });

  it('leaves the mount of the machine alone also where it was bound with propagation in both directions', async () => {
    share();
    await done(files.bindSubPath({ ...setupOf('a'), givesBack: true }));
    mountOn(at('v', 'a', 'point'));
    await unbind();
    expect(mountsBelow(at())).toEqual([at('v'), at('v', 'a', 'point')]);
  });

  it.each([
    [undefined, []],
    [true, ['v/a/point']],
  ])('gives the mounts in it back where it was asked for: %s', async (givesBack, expected) => {
    share();
    await done(files.bindSubPath({ ...setupOf('a'), ...(givesBack && { givesBack }) }));
    mountOn(target('point'));
    expect(mountsBelow(at('v', 'a'))).toEqual(expected.map((path) => at(path)));
    execFileSync('umount', [target('point')]);
    await unbind();
  });

  it('is bound in the place of another with such a mount below it', async () => {
    share();
    await bind('a');
    mountOn(at('v', 'a', 'point'));
    makeDirectory(at('v', 'b'));
    await bind('b');
    expect(mountsBelow(at())).toEqual([at('v'), at('v', 'a', 'point'), target()]);
  });

  it('is gone after a kill at any point of its removal and another call, with such a mount in it', async () => {
    share();
    const kills = await killEverywhere(
      async () => {
        if (mountsBelow(at('v', 'a')).length > 0) execFileSync('umount', [at('v', 'a', 'point')]);
        await bind('a');
        mountOn(at('v', 'a', 'point'));
      },
      (killed) => killed.unbindSubPaths(at('volume-subpaths', 'v')),
      async () => {
        await unbind();
        expect(mountsBelow(at())).toEqual([at('v'), at('v', 'a', 'point')]);
      },
    );
    expect(kills).toBeGreaterThan(10);
  });
});

describe.runIf(IS_ROOT)('a container that swaps a directory and a link', () => {
  const swap = (): void => {
    renameSync(at('v', 'a'), at('v', 'aside'));
    renameSync(at('v', 'link'), at('v', 'a'));
  };
  const isSafe = (): void => {
    for (const point of mountsBelow(at()))
      expect(existsSync(`${point}/inside`) || existsSync(`${point}/b/inside`)).toBe(true);
    expect([readdirSync(at('outside')), readdirSync(at('outside', 'b'))]).toEqual([['b'], ['secret']]);
  };

  it.each(['a', 'a/b', 'a/new'])('before any single call of the agent never gets the outside: %s', async (subPath) => {
    for (let swapAt = 1, isSwapped = true; isSwapped; swapAt += 1) {
      makeVolume();
      symlinkSync(at('outside'), at('v', 'link'));
      let count = 0;
      isSwapped = false;
      const watched = volumeFiles({
        beforeCall: () => {
          count += 1;
          if (count !== swapAt) return;
          swap();
          isSwapped = true;
        },
      });
      await done(watched.bindSubPath(setupOf(subPath))).catch((error: unknown) => {
        expect(String(error)).toContain(at());
      });
      if (subPath !== 'a/new') isSafe();
      expect(existsSync(at('outside', 'new'))).toBe(false);
      await unbind();
      rmSync(at('v'), { recursive: true });
      rmSync(at('outside'), { recursive: true });
    }
  });

  it('in a loop never gets the outside', async () => {
    makeVolume();
    symlinkSync(at('outside'), at('v', 'link'));
    const stop = new SharedArrayBuffer(4);
    const swapper = new Worker(
      `const { workerData: { volume, stop } } = require('node:worker_threads');
       const { renameSync, rmSync } = require('node:fs');
       // The agent has made the missing directory in between, or makes another one in it at this very moment.
       const IN_THE_WAY = ['EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY'];
       const unlessInTheWay = (call) => {
         try { call(); return true; }
         catch (error) { if (!IN_THE_WAY.includes(error.code)) throw error; return false; }
       };
       const move = (from, to) => {
         while (!unlessInTheWay(() => renameSync(volume + '/' + from, volume + '/' + to)))
           unlessInTheWay(() => rmSync(volume + '/' + to, { recursive: true, force: true }));
       };
       while (Atomics.load(new Int32Array(stop), 0) === 0) {
         move('a', 'aside'); move('link', 'a'); move('a', 'link'); move('aside', 'a');
       }`,
      { eval: true, workerData: { volume: at('v'), stop } },
    );
    let isSwapping = true;
    const ended = new Promise((resolve, reject) => {
      swapper.once('exit', resolve);
      swapper.once('error', reject);
    }).finally(() => (isSwapping = false));
    // It is awaited in the end.
    ended.catch(() => undefined);
    await new Promise((resolve) => swapper.once('online', resolve));
    let bound = 0;
    let refused = 0;
    try {
      for (let round = 0; isSwapping && (round < 300 || bound === 0 || refused === 0); round += 1) {
        const isBound = await bind('a/b').then(
          () => true,
          () => false,
        );
        expect(existsSync(target('secret'))).toBe(false);
        if (isBound) bound += 1;
        else refused += 1;
        if (!isBound) continue;
        // It is empty if the agent had to make it.
        expect([[], ['inside']]).toContainEqual(readdirSync(target()));
        await unbind();
      }
    } finally {
      Atomics.store(new Int32Array(stop), 0, 1);
      await ended;
    }
    expect(readdirSync(at('outside', 'b'))).toEqual(['secret']);
    expect(Math.min(bound, refused)).toBeGreaterThan(0);
  });
});
