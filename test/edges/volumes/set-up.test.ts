import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FileCalls, fileCalls } from '../../../src/host/volumes/file-calls.js';
import { setUp } from '../../../src/host/volumes/set-up.js';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import type { VolumeSetup } from '../../../src/model/volumes/volume-setup.js';
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
const plain = (): VolumeSetup => ({ directory: at('volumes', 'p', 'v'), markerDirectory: at('plugins', 'p', 'v') });
const inMemory = (size = '1m'): VolumeSetup => ({
  ...plain(),
  mount: { type: 'tmpfs', source: 'tmpfs', options: [`size=${size}`] },
});

describe('a plain volume', () => {
  it('is a directory for every user, with any umask, and with a marker', async () => {
    const umask = process.umask(0o077);
    try {
      await done(files.setUp(plain()));
    } finally {
      process.umask(umask);
    }
    expect(modeOf(plain().directory)).toBe('777');
    expect(modeOf(plain().markerDirectory)).toBe('700');
    expect(existsSync(at('plugins', 'p', 'v', 'ready'))).toBe(true);
  });

  it('keeps its files when it is set up again', async () => {
    expect(await done(files.setUp(plain()))).toBe('made');
    writeFileSync(at('volumes', 'p', 'v', 'file'), 'kept');
    expect(await done(files.setUp(plain()))).toBe('there');
    expect(readFileSync(at('volumes', 'p', 'v', 'file'), 'utf8')).toBe('kept');
  });

  it('is made again if only its marker is left', async () => {
    await done(files.setUp(plain()));
    rmSync(plain().directory, { recursive: true });
    expect(await done(files.setUp(plain()))).toBe('made');
    expect(modeOf(plain().directory)).toBe('777');
    expect(existsSync(at('plugins', 'p', 'v', 'ready'))).toBe(true);
  });

  it('belongs to its group with files that were in it, of any names, and not what its links lead to', async () => {
    const name = Buffer.concat([Buffer.from(`${makeDirectory(plain().directory)}/`), Buffer.from([0xff])]);
    writeFileSync(name, '', { mode: 0o600 });
    writeFileSync(at('outside'), '', { mode: 0o600 });
    symlinkSync(at('outside'), at('volumes', 'p', 'v', 'link'));
    await done(files.setUp({ ...plain(), ownership: { fsGroup: process.getgid!(), readOnly: false } }));
    expect(statSync(name).mode & 0o777).toBe(0o660);
    expect(modeOf(plain().directory)).toBe('2777');
    expect(modeOf(at('outside'))).toBe('600');
  });

  it('is refused where a file is in its place', async () => {
    makeDirectory(at('volumes', 'p'));
    writeFileSync(plain().directory, '');
    await expect(done(files.setUp(plain()))).rejects.toThrow(
      `${plain().directory} is not a directory, expected the directory of a volume`,
    );
  });

  it('is not entered where a pipe is in its place', async () => {
    makeDirectory(at('volumes', 'p'));
    execFileSync('mkfifo', [plain().directory]);
    await expect(done(files.setUp(plain()))).rejects.toThrow('is not a directory');
    await expect(done(files.tearDown(plain()))).rejects.toThrow('is not a directory');
  });
});

describe.runIf(IS_ROOT)('a volume in memory', () => {
  /** The type and the options of the file system. */
  const mountedAs = (): string =>
    readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(` ${inMemory().directory} `))
      .map((line) => line.slice(line.indexOf(' - ')))
      .join();

  it('is a tmpfs of its size, mounted once', async () => {
    await done(files.setUp(inMemory()));
    await done(files.setUp(inMemory()));
    expect(mountsBelow(at())).toEqual([inMemory().directory]);
    expect(mountedAs()).toMatch(/^ - tmpfs tmpfs .*size=1024k/);
    expect(modeOf(inMemory().directory)).toBe('1777');
  });

  it('is kept out of the swap, except where the kernel refuses that', async () => {
    const setup = { ...inMemory(), mount: { ...inMemory().mount!, options: ['size=1m', 'noswap'] } };
    await done(files.setUp(setup));
    expect(mountedAs()).toContain(',noswap');
    await done(files.tearDown(setup));
    const calls = fileCalls();
    const refused: string[] = [];
    const mount: FileCalls['mount'] = async (type, source, target, options) => {
      if (!options.includes('noswap')) return await calls.mount(type, source, target, options);
      refused.push(target);
      throw new Error('Turning off swap in unprivileged tmpfs mounts unsupported');
    };
    await setUp({ ...calls, mount }, setup);
    expect(refused).toEqual([setup.directory]);
    expect(mountedAs()).toMatch(/^ - tmpfs tmpfs .*size=1024k/);
  });

  it.runIf(existsSync('/sys/kernel/mm/hugepages/hugepages-2048kB'))('may be of huge pages', async () => {
    const mount = { type: 'hugetlbfs', source: 'nodev', options: ['pagesize=2Mi'] } as const;
    await done(files.setUp({ ...plain(), mount }));
    await done(files.setUp({ ...plain(), mount }));
    expect(mountedAs()).toMatch(/^ - hugetlbfs nodev .*pagesize=2M$/);
    await done(files.tearDown(plain()));
    expect(mountsBelow(at())).toEqual([]);
  });

  it('is mounted again after its mount was lost, such as by a boot', async () => {
    await done(files.setUp(inMemory()));
    execFileSync('umount', [inMemory().directory]);
    await done(files.setUp(inMemory()));
    expect(mountsBelow(at())).toEqual([inMemory().directory]);
  });

  it('belongs to the group of the pod', async () => {
    await done(files.setUp({ ...inMemory(), ownership: { fsGroup: 77, readOnly: false } }));
    expect(modeOf(inMemory().directory)).toBe('3777');
    expect(statSync(inMemory().directory).gid).toBe(77);
  });

  it('is refused where another file system is mounted', async () => {
    makeDirectory(inMemory().directory);
    execFileSync('mount', ['-t', 'ramfs', 'ramfs', inMemory().directory]);
    await expect(done(files.setUp(inMemory()))).rejects.toThrow(
      'is the mount point of another file system, expected tmpfs',
    );
  });

  it('names the directory and the reason of the kernel if it cannot be mounted', async () => {
    await expect(done(files.setUp(inMemory('nonsense')))).rejects.toThrow(
      new RegExp(`mount of ${inMemory().directory} failed: mount: .*`),
    );
  });

  it('converges after a kill at any point', async () => {
    const kills = await killEverywhere(
      () => done(files.tearDown(inMemory())).then(() => undefined),
      (killed) => killed.setUp({ ...inMemory(), ownership: { fsGroup: 77, readOnly: false } }),
      async () => {
        await done(files.setUp({ ...inMemory(), ownership: { fsGroup: 77, readOnly: false } }));
        expect(mountsBelow(at())).toEqual([inMemory().directory]);
        expect(modeOf(inMemory().directory)).toBe('3777');
        expect(existsSync(at('plugins', 'p', 'v', 'ready'))).toBe(true);
      },
    );
    expect(kills).toBeGreaterThan(8);
  });

  it('is found with the plain ones by the next process', async () => {
    const pod = (...names: readonly string[]): string => at('pods', 'u1', ...names);
    await done(files.setUp({ ...inMemory(), directory: pod('volumes', 'kubernetes.io~secret', 's') }));
    await done(files.setUp({ ...plain(), directory: pod('volumes', 'kubernetes.io~empty-dir', 'e') }));
    makeDirectory(pod('volume-subpaths', 's'));
    makeDirectory(pod('volume-subpaths', 'left'));
    writeFileSync(pod('volumes', 'kubernetes.io~secret', 'file'), '');
    expect(await done(files.found(pod()))).toEqual([
      { plugin: 'kubernetes.io/empty-dir', name: 'e' },
      { plugin: 'kubernetes.io/secret', name: 's' },
      { name: 'left' },
    ]);
  });

  it('is written and taken down on a read-only root directory with an error that names it', async () => {
    makeDirectory(at('root'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', at('root')]);
    const setup = { directory: at('root', 'v'), markerDirectory: at('root', 'm') };
    await expect(done(files.setUp(setup))).rejects.toThrow(/EROFS.*\/root\//);
    await expect(done(files.write(at('root'), filesOf({ a: '1' })))).rejects.toThrow(/EROFS.*\/root\//);
    await done(files.tearDown(setup));
  });
});

describe('the volumes of a pod without a directory', () => {
  it('are none', async () => {
    expect(await done(files.found(at('missing')))).toEqual([]);
  });
});
