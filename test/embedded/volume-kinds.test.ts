import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { killProcess } from '../support/kill-process.js';
import { mountedBelow } from '../support/mounted-below.js';
import { type Daemon, isRoot, it } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';
import { QUICK_RESTARTS } from './quick-restarts.js';
import { failedMounts, inside, isGone, waitsWith } from './volume-views.js';

const mount = (name: string, fields: object = {}) => ({ name, mountPath: `/rx/${name}`, ...fields });

/** A folder of the machine with one entry of each kind. */
const kindsOfFiles = async (daemon: Daemon): Promise<string> => {
  const folder = join(daemon.directory, 'machine');
  mkdirSync(join(folder, 'there'), { recursive: true });
  writeFileSync(join(folder, 'there/file'), 'of the machine\n');
  symlinkSync('there', join(folder, 'link'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  execFileSync('mknod', [join(folder, 'block'), 'b', '7', '250']);
  const server = createServer().listen(join(folder, 'socket'));
  daemon.beforeDispose(() => new Promise((resolve) => server.close(resolve)));
  await eventually('the socket is there', () => server.listening);
  return folder;
};

describe.runIf(isRoot).concurrent('a volume over the embedded runtime', () => {
  it('of a path of the machine has the type that it states, or is made, and stays', async ({ daemon }) => {
    const folder = await kindsOfFiles(daemon);
    const kinds = [
      ['directory', 'Directory', 'there'],
      ['link', 'Directory', 'link'],
      ['made', 'DirectoryOrCreate', 'made/deep'],
      ['file', 'File', 'there/file'],
      ['new-file', 'FileOrCreate', 'there/new'],
      ['socket', 'Socket', 'socket'],
      ['block', 'BlockDevice', 'block'],
      ['any', '', 'any'],
    ] as const;
    daemon.apply({
      name: 'types',
      volumes: [
        ...kinds.map(([name, type, below]) => ({ name, hostPath: { type, path: join(folder, below) } })),
        { name: 'char', hostPath: { type: 'CharDevice', path: '/dev/null' } },
      ],
      containers: [{ volumeMounts: [...kinds.map(([name]) => name), 'char'].map((name) => mount(name)) }],
    });
    await daemon.start();
    const stat = 'cd /rx; stat -c "%n: %F, %a" made new-file; stat -c "%n: %F" socket block char any';
    expect(await inside(daemon, 'types', stat)).toEqual([
      ...['made: directory, 755', 'new-file: regular empty file, 644', 'socket: socket'],
      ...['block: block special file', 'char: character special file', 'any: directory'],
    ]);
    expect(await inside(daemon, 'types', 'cd /rx; cat directory/file link/file file')).toEqual(
      Array(3).fill('of the machine'),
    );
    await inside(daemon, 'types', 'echo from inside > /rx/new-file; echo deep > /rx/made/file');
    daemon.withdraw('types');
    await isGone(daemon);
    expect(readFileSync(join(folder, 'there/new'), 'utf8')).toBe('from inside\n');
    expect(readFileSync(join(folder, 'made/deep/file'), 'utf8')).toBe('deep\n');
    expect(existsSync('/rx')).toBe(false);
  });

  it('of a path of another type is refused by name, and nothing of the pod starts', async ({ daemon }) => {
    const folder = await kindsOfFiles(daemon);
    const wrong = [
      ['Directory', 'there/file', 'a directory'],
      ['DirectoryOrCreate', 'pipe', 'a directory'],
      ['Directory', 'missing', 'a directory'],
      ['File', 'there', 'a file'],
      ['FileOrCreate', 'pipe', 'a file'],
      ['Socket', 'there/file', 'a socket file'],
      ['CharDevice', 'block', 'a character device'],
      ['BlockDevice', 'pipe', 'a block device'],
    ] as const;
    daemon.apply({
      name: 'wrong',
      volumes: wrong.map(([type, below], index) => ({
        name: `v${index}`,
        hostPath: { type, path: join(folder, below) },
      })),
      containers: [{ volumeMounts: wrong.map((_, index) => mount(`v${index}`)) }],
    });
    await daemon.start();
    await eventually('each has its event', () => {
      expect(new Set(failedMounts(daemon, 'wrong'))).toEqual(
        new Set(
          wrong.map(
            ([, below, expected], index) =>
              `MountVolume.SetUp failed for volume "v${index}" : hostPath type check failed: ${join(folder, below)} is not ${expected}`,
          ),
        ),
      );
      return true;
    });
    expect(await daemon.containersOf('wrong')).toEqual([]);
  });

  it('is shared by the containers of its pod and survives them, in memory too, with its options', async ({
    daemon,
  }) => {
    daemon.apply({
      name: 'shared',
      volumes: [
        { name: 'disk', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '3Mi' } },
      ],
      containers: [
        { volumeMounts: [mount('disk'), mount('memory'), { name: 'memory', mountPath: '/rx/read', readOnly: true }] },
        { name: 'other', volumeMounts: [{ name: 'disk', mountPath: '/rx/elsewhere/deep' }, mount('memory')] },
      ],
    });
    await daemon.start('--config', daemon.configuration(QUICK_RESTARTS));
    await inside(daemon, 'shared', 'echo disk > /rx/disk/file; echo memory > /rx/memory/file');
    const seen = await inside(daemon, 'shared', 'cat /rx/elsewhere/deep/file /rx/memory/file', 'other');
    expect(seen).toEqual(['disk', 'memory']);
    const [memory, read] = await inside(daemon, 'shared', "grep -E ' /rx/(memory|read) ' /proc/mounts | sort -k2");
    expect(memory).toMatch(/^tmpfs \/rx\/memory tmpfs rw,.*\bsize=3072k\b/);
    expect(read).toMatch(/^tmpfs \/rx\/read tmpfs ro,/);
    const tooMuch = 'dd if=/dev/zero of=/rx/memory/large bs=64k count=64 2>&1 || true; rm /rx/memory/large';
    expect((await inside(daemon, 'shared', tooMuch)).join()).toContain('No space left on device');

    killProcess((await daemon.processOf('shared')).pid);
    await daemon.reached('shared', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(await inside(daemon, 'shared', 'cat /rx/disk/file /rx/read/file')).toEqual(['disk', 'memory']);
    daemon.withdraw('shared');
    await isGone(daemon);
  });

  it('shows later mounts of the machine as its propagation says, and is read-only down to the last mount if asked', async ({
    daemon,
  }) => {
    const folder = join(daemon.directory, 'propagation');
    mkdirSync(folder);
    execFileSync('mount', ['--bind', folder, folder]);
    execFileSync('mount', ['--make-rshared', folder]);
    for (const name of ['later', 'below']) mkdirSync(join(folder, name));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(folder, 'below')]);
    const data = (fields: object) => [{ name: 'data', mountPath: '/rx/data', ...fields }];
    const readOnly = { readOnly: true };
    daemon.apply({
      name: 'propagation',
      volumes: [{ name: 'data', hostPath: { path: folder } }],
      containers: [
        { name: 'none', volumeMounts: data({ mountPropagation: 'None' }) },
        { name: 'inward', volumeMounts: data({ mountPropagation: 'HostToContainer' }) },
        { name: 'plain', volumeMounts: data(readOnly) },
        { name: 'deep', volumeMounts: data({ ...readOnly, recursiveReadOnly: 'Enabled' }) },
        {
          name: 'both',
          volumeMounts: data({ mountPropagation: 'Bidirectional' }),
          securityContext: { privileged: true },
        },
      ],
    });
    await daemon.start();
    for (const name of ['none', 'inward', 'plain', 'deep'])
      await daemon.reached('propagation', 'CONTAINER_RUNNING', { name });
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(folder, 'later')]);
    const mounted = async (name: string): Promise<readonly string[]> =>
      inside(daemon, 'propagation', "cut -d' ' -f2 /proc/mounts | grep ^/rx/data/ | sort", name);
    expect(await mounted('none')).toEqual(['/rx/data/below']);
    expect(await mounted('inward')).toEqual(['/rx/data/below', '/rx/data/later']);
    const write = 'cd /rx/data; for to in . below; do (echo x > $to/new) 2>/dev/null && echo $to; done; echo end';
    expect(await inside(daemon, 'propagation', write, 'plain')).toEqual(['below', 'end']);
    expect(await inside(daemon, 'propagation', write, 'deep')).toEqual(['end']);
    // Mounts of a container never reach the machine over this runtime.
    expect(await waitsWith(daemon, 'propagation', 'CreateContainerError', 'both')).toMatch(/propagation/i);
  });

  it('of an image, or of huge pages that no container requests, is refused with the reason', async ({ daemon }) => {
    const pod = (name: string, volume: object): void =>
      daemon.apply({ name, volumes: [{ name: 'data', ...volume }], containers: [{ volumeMounts: [mount('data')] }] });
    pod('image', { image: { reference: 'host', pullPolicy: 'IfNotPresent' } });
    pod('huge', { emptyDir: { medium: 'HugePages-2Mi' } });
    await daemon.start();
    expect(await waitsWith(daemon, 'image', 'CreateContainerError')).toContain(
      'image volumes are not supported by the embedded runtime, which has no images',
    );
    await eventually('the event says so', () =>
      failedMounts(daemon, 'huge').includes(
        'MountVolume.SetUp failed for volume "data" : medium HugePages-2Mi: hugePages storage requested, but there is no resource request for huge pages',
      ),
    );
    expect(await daemon.containersOf('huge')).toEqual([]);
  });

  it('by a sub-path is a file or a directory of it, stays the old file, and no link leads it out', async ({
    daemon,
  }) => {
    const folder = await kindsOfFiles(daemon);
    const outside = join(daemon.directory, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'of the machine\n');
    chmodSync(outside, 0o755);
    symlinkSync(outside, join(folder, 'absolute'));
    symlinkSync('../outside', join(folder, 'relative'));
    symlinkSync('/proc/1/root', join(folder, 'magic'));
    const sub = (name: string, fields: object) => ({ ...mount(name), name: 'data', ...fields });
    const bad = ['absolute', 'relative/secret', 'relative/new', 'magic/etc', 'pipe/below', 'block/below'];
    daemon.apply({
      name: 'sub',
      volumes: [{ name: 'data', hostPath: { path: folder } }],
      containers: [
        {
          env: [{ name: 'WHO', value: 'me' }],
          volumeMounts: [
            ...[sub('directory', { subPath: 'there' }), sub('by-link', { subPath: 'link/file', readOnly: true })],
            ...[sub('pipe', { subPath: 'pipe' }), sub('own', { subPathExpr: 'of-$(WHO)/$(POD_UID)' })],
          ],
        },
        ...bad.map((subPath, index) => ({ name: `bad${index}`, volumeMounts: [sub('bad', { subPath })] })),
        {
          name: 'up',
          env: [{ name: 'UP', value: '../../outside' }],
          volumeMounts: [sub('up', { subPathExpr: '$(UP)/new' })],
        },
      ],
    });
    await daemon.start();
    expect(await inside(daemon, 'sub', 'cd /rx; cat directory/file by-link; stat -c %F pipe')).toEqual([
      ...['of the machine', 'of the machine', 'fifo'],
    ]);
    expect(await inside(daemon, 'sub', '(echo x > /rx/by-link) 2>/dev/null || echo kept')).toEqual(['kept']);
    await inside(daemon, 'sub', 'echo own > /rx/own/file');
    const [{ uid } = { uid: '' }] = await daemon.containersOf('sub', 'main');
    expect(readFileSync(join(folder, 'of-me', uid, 'file'), 'utf8')).toBe('own\n');
    expect(mountedBelow(join(daemon.rootDir, 'pods')).length).toBe(4);
    for (const index of bad.keys())
      expect(await waitsWith(daemon, 'sub', 'CreateContainerConfigError', `bad${index}`)).toBe(
        `failed to prepare subPath for volumeMount "data" of container "bad${index}"`,
      );
    expect(await waitsWith(daemon, 'sub', 'CreateContainerConfigError', 'up')).toBe(
      "unable to provision SubPath `../../outside/new`: must not contain '..'",
    );
    expect(existsSync(join(outside, 'new'))).toBe(false);
    daemon.withdraw('sub');
    await isGone(daemon);
  });

  it('by a sub-path stays inside although another container exchanges it for a link all the time', async ({
    daemon,
  }) => {
    const outside = join(daemon.directory, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'of the machine\n');
    daemon.apply({
      name: 'swapped',
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        {
          name: 'attacker',
          volumeMounts: [mount('data')],
          script: `cd /rx/data; while :; do ln -s ${outside} x; rm x; mkdir x; rmdir x; done`,
        },
        // It ends at once, so the sub-path is resolved for each instance.
        {
          name: 'victim',
          volumeMounts: [{ name: 'data', mountPath: '/rx/sub', subPath: 'x' }],
          script: 'if [ -e /rx/sub/secret ]; then cat /rx/sub/secret; else echo nothing; fi >> "$DIR/seen"; exit 1',
        },
        { name: 'idle', script: SLEEP },
      ],
    });
    await daemon.start('--config', daemon.configuration(QUICK_RESTARTS));
    await eventually('three instances have looked', () => daemon.lines('seen').length >= 3, 200_000);
    expect(new Set(daemon.lines('seen'))).toEqual(new Set(['nothing']));
  });
});
