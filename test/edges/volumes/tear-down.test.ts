import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import { done, IS_ROOT, killEverywhere, makeDirectory, mountsBelow, volumeStage } from './volume-stage.js';

const { at } = volumeStage();
const files = volumeFiles();
const volume = () => ({ directory: at('volumes', 'v'), markerDirectory: at('markers', 'v') });
const setUp = () => done(files.setUp(volume()));
const inside = (...names: readonly string[]): string => join(volume().directory, ...names);

describe('a volume that is taken down', () => {
  it('leaves nothing, and may be missing', async () => {
    await setUp();
    makeDirectory(inside('a', 'b', 'c'));
    writeFileSync(inside('a', 'b', 'file'), '');
    await done(files.tearDown(volume()));
    expect([...readdirSync(at('volumes')), ...readdirSync(at('markers'))]).toEqual([]);
    await done(files.tearDown(volume()));
  });

  it('leaves alone everything outside to which its links lead', async () => {
    await setUp();
    makeDirectory(at('outside'));
    writeFileSync(at('outside', 'precious'), '');
    symlinkSync(at('outside'), inside('link'));
    symlinkSync('../../outside', inside('relative'));
    mkdirSync(inside('d'));
    symlinkSync(at('outside'), inside('d', '..removed.0'));
    symlinkSync(at('outside'), inside('..removed.0'));
    await done(files.tearDown(volume()));
    expect(existsSync(volume().directory)).toBe(false);
    expect(readdirSync(at('outside'))).toEqual(['precious']);
  });

  it('is removed with names that are not UTF-8, pipes and sockets', async () => {
    await setUp();
    writeFileSync(Buffer.concat([Buffer.from(`${inside()}/`), Buffer.from([0xff, 0xfe])]), '');
    mkdirSync(Buffer.concat([Buffer.from(`${inside()}/`), Buffer.from([0xc3, 0x28])]));
    execFileSync('mkfifo', [inside('pipe')]);
    await done(files.tearDown(volume()));
    expect(existsSync(volume().directory)).toBe(false);
  });

  it('is removed with the empty directories that a killed process has left of its removal', async () => {
    await setUp();
    for (const name of ['b', 'a', '..removed.0', '..removed.1', '..removed.2', 'd', 'c']) mkdirSync(inside(name));
    writeFileSync(inside('a', 'file'), '');
    await done(files.tearDown(volume()));
    expect(existsSync(volume().directory)).toBe(false);
  });

  it('is removed with paths that are longer than the kernel accepts', async () => {
    await setUp();
    const script = 'for _ in $(seq 60); do mkdir "$0" && cd -P "./$0" || exit 1; done; : > file';
    execFileSync('bash', ['-c', `cd "$1"; ${script}`, 'n'.repeat(200), inside()]);
    await done(files.tearDown(volume()));
    expect(existsSync(volume().directory)).toBe(false);
  });

  it('is removed while a directory in it becomes a link to the outside', async () => {
    for (let swapAt = 1, isSwapped = true; isSwapped; swapAt += 1) {
      await setUp();
      writeFileSync(`${makeDirectory(at('outside', 'd'))}/precious`, '');
      makeDirectory(inside('d', 'e'));
      let count = 0;
      isSwapped = false;
      const swapping = volumeFiles({
        beforeCall: () => {
          count += 1;
          if (count !== swapAt) return;
          isSwapped = true;
          for (const name of existsSync(inside()) ? readdirSync(inside()) : []) {
            rmSync(inside(name), { recursive: true });
            symlinkSync(at('outside'), inside(name));
          }
        },
      });
      await done(swapping.tearDown(volume()));
      expect(existsSync(volume().directory)).toBe(false);
      expect(readdirSync(at('outside', 'd'))).toEqual(['precious']);
    }
  });

  it('is refused if it is a link', async () => {
    makeDirectory(at('outside'));
    writeFileSync(at('outside', 'precious'), '');
    makeDirectory(at('volumes'));
    symlinkSync(at('outside'), volume().directory);
    await expect(done(files.tearDown(volume()))).rejects.toThrow(
      `${volume().directory} is not a directory, expected one`,
    );
    expect(existsSync(at('outside', 'precious'))).toBe(true);
  });
});

describe.runIf(IS_ROOT)('a volume with mounts', () => {
  it.each([
    ['another file system', (point: string) => execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', point])],
    ['a directory of the same file system', (point: string) => execFileSync('mount', ['--bind', at('outside'), point])],
  ])('is not removed across %s', async (_, mount) => {
    await setUp();
    makeDirectory(at('outside'));
    makeDirectory(inside('d', 'point'));
    mount(inside('d', 'point'));
    writeFileSync(inside('d', 'point', 'precious'), '');
    await expect(done(files.tearDown(volume()))).rejects.toThrow(
      `${inside('d', 'point')} is a mount point, expected no mounts below ${volume().directory}`,
    );
    expect(existsSync(inside('d', 'point', 'precious'))).toBe(true);
  });

  it('keeps a file system that is mounted between the check and the removal', async () => {
    await setUp();
    makeDirectory(at('outside'));
    writeFileSync(at('outside', 'precious'), '');
    makeDirectory(inside('d', 'point'));
    let isChecked = false;
    const slow = volumeFiles({
      beforeCall: (call) => {
        if (call === 'rename' && !isChecked) execFileSync('mount', ['--bind', at('outside'), inside('d', 'point')]);
        isChecked ||= call === 'rename';
      },
    });
    await expect(done(slow.tearDown(volume()))).rejects.toThrow('is a mount point, expected a plain file or directory');
    expect(readdirSync(at('outside'))).toEqual(['precious']);
  });

  it('is unmounted as often as it was mounted', async () => {
    const setup = { ...volume(), mount: { type: 'tmpfs', source: 'tmpfs', options: ['size=1m'] } } as const;
    await done(files.setUp(setup));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', setup.directory]);
    await done(files.tearDown(volume()));
    expect(mountsBelow(at())).toEqual([]);
    expect(existsSync(setup.directory)).toBe(false);
  });

  it('is gone after a kill at any point and another call', async () => {
    const setup = { ...volume(), mount: { type: 'tmpfs', source: 'tmpfs', options: ['size=1m'] } } as const;
    const kills = await killEverywhere(
      async () => {
        makeDirectory(inside('under', 'the mount'));
        await done(files.setUp(setup));
        writeFileSync(makeDirectory(inside('a', 'b')) + '/file', '');
      },
      (killed) => killed.tearDown(volume()),
      async () => {
        await done(files.tearDown(volume()));
        expect(mountsBelow(at())).toEqual([]);
        expect([...readdirSync(at('volumes')), ...readdirSync(at('markers'))]).toEqual([]);
      },
    );
    expect(kills).toBeGreaterThan(15);
  });
});
