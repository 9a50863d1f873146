import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { PodSpec } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import { killProcess } from '../support/kill-process.js';
import { BUSYBOX, type ContainerdNode } from './containerd-node.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';
import { directoryOf, failedMounts, folder, gone, mounts, mountsBelow, quickRestarts, sh } from './volume-pods.js';

const it = onOneNode(quickRestarts);

type Volumes = NonNullable<PodSpec['volumes']>;

/** The line of /proc/mounts of a path in a container. */
const mountLine = (node: ContainerdNode, id: string, path: string): Promise<string> =>
  sh(node, id, `grep ' ${path} ' /proc/mounts`);

overContainerd('an emptyDir', () => {
  it('is shared by the containers of its pod, survives them, and goes with the pod', async ({ node }) => {
    node.apply({
      name: 'shared',
      securityContext: { runAsUser: 1234 },
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [{ volumeMounts: mounts('/data') }, { name: 'other', volumeMounts: mounts('/elsewhere/deep') }],
    });
    const [one, other] = [await running(node, 'shared'), await running(node, 'shared', 'other')];
    expect(await sh(node, one.id, 'echo kept > /data/file; stat -c %a /data')).toBe('777');
    expect(await sh(node, other.id, 'cat /elsewhere/deep/file')).toBe('kept');
    const directory = await directoryOf(node, 'shared');
    expect(readFileSync(join(directory, 'volumes/kubernetes.io~empty-dir/data/file'), 'utf8')).toBe('kept\n');

    killProcess(one.pid);
    const next = await node.reached('shared', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(await sh(node, next.id, 'cat /data/file')).toBe('kept');
    node.withdraw('shared');
    await gone(directory);
  });

  it('in memory is a tmpfs of its size, which one mount of it may not write to', async ({ node }) => {
    node.apply({
      name: 'memory',
      volumes: [{ name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '3Mi' } }],
      containers: [
        { volumeMounts: [...mounts('/data'), { name: 'data', mountPath: '/read', readOnly: true }] },
        { name: 'other', volumeMounts: mounts('/data') },
      ],
    });
    const [one, other] = [await running(node, 'memory'), await running(node, 'memory', 'other')];
    expect(await mountLine(node, one.id, '/data')).toMatch(/^tmpfs \/data tmpfs rw,.*\bsize=3072k\b/);
    expect(await mountLine(node, one.id, '/read')).toMatch(/^tmpfs \/read tmpfs ro,/);
    // The kernel gives a tmpfs this mode.
    expect(await sh(node, one.id, 'stat -c %a /data; echo here > /data/file; cat /read/file')).toBe('1777\nhere');
    expect(await sh(node, other.id, 'cat /data/file')).toBe('here');
    expect(await sh(node, one.id, '(echo no > /read/file) 2>&1 || true')).toContain('Read-only file system');
    expect(await sh(node, one.id, 'dd if=/dev/zero of=/data/large bs=64k count=64 2>&1 || true')).toContain(
      'No space left on device',
    );
    const directory = await directoryOf(node, 'memory');
    expect(mountsBelow(directory)).toEqual([join(directory, 'volumes/kubernetes.io~empty-dir/data')]);
    node.withdraw('memory');
    await gone(directory);
  });

  it('belongs to the group of the pod, and so do new files in it', async ({ node }) => {
    node.apply({
      name: 'grouped',
      securityContext: { runAsUser: 1234, runAsGroup: 1235, fsGroup: 4321 },
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [{ volumeMounts: mounts('/data') }],
    });
    const { id } = await running(node, 'grouped');
    const seen = await sh(
      node,
      id,
      'id -u; id -g; id -G; stat -c "%a %u:%g" /data; touch /data/new; stat -c "%u:%g" /data/new',
    );
    expect(seen.split('\n')).toEqual(['1234', '1235', '1235 4321', '2777 0:4321', '1234:4321']);
  });

  it('of huge pages that the pod does not request is refused', async ({ node }) => {
    node.apply({
      name: 'huge',
      volumes: [{ name: 'data', emptyDir: { medium: 'HugePages-2Mi' } }],
      containers: [{ volumeMounts: mounts('/data') }],
    });
    await eventually('the event says so', () =>
      failedMounts(node, 'huge').includes(
        'MountVolume.SetUp failed for volume "data" : medium HugePages-2Mi: hugePages storage requested, but there is no resource request for huge pages',
      ),
    );
    expect(await node.containersOf('huge')).toEqual([]);
  });
});

overContainerd('a hostPath', () => {
  it('is the path of the machine, of its type, and made where the type says so', async ({ node }) => {
    const path = folder(node, 'types');
    mkdirSync(join(path, 'there'));
    writeFileSync(join(path, 'there/file'), 'of the machine\n');
    symlinkSync('there', join(path, 'link'));
    const kinds = [
      ['directory', 'Directory', 'there'],
      ['link', 'Directory', 'link'],
      ['made', 'DirectoryOrCreate', 'made/deep'],
      ['file', 'File', 'there/file'],
      ['new-file', 'FileOrCreate', 'there/new'],
    ] as const;
    node.apply({
      name: 'types',
      volumes: [
        ...kinds.map(([name, type, below]) => ({ name, hostPath: { type, path: join(path, below) } })),
        { name: 'device', hostPath: { type: 'CharDevice', path: '/dev/null' } },
        { name: 'socket', hostPath: { type: 'Socket', path: join(node.stage, 'containerd.sock') } },
        { name: 'any', hostPath: { path: join(path, 'any') } },
      ],
      containers: [
        {
          volumeMounts: [...kinds.map(([name]) => name), 'device', 'socket', 'any'].map((name) => ({
            name,
            mountPath: `/m/${name}`,
          })),
        },
      ],
    });
    const { id } = await running(node, 'types');
    expect(await sh(node, id, 'cat /m/directory/file /m/link/file /m/file')).toBe(
      ['of the machine', 'of the machine', 'of the machine'].join('\n'),
    );
    expect((await sh(node, id, 'cd /m; stat -c "%n: %F" made new-file socket device any')).split('\n')).toEqual([
      'made: directory',
      'new-file: regular empty file',
      'socket: socket',
      'device: character special file',
      'any: directory',
    ]);
    expect(await sh(node, id, 'stat -c %a /m/made /m/new-file')).toBe('755\n644');
    await sh(node, id, 'echo from inside > /m/new-file; echo deep > /m/made/file');
    expect(readFileSync(join(path, 'there/new'), 'utf8')).toBe('from inside\n');
    const directory = await directoryOf(node, 'types');
    node.withdraw('types');
    await gone(directory);
    // What is of the machine stays.
    expect(readFileSync(join(path, 'made/deep/file'), 'utf8')).toBe('deep\n');
  });

  it.for<{ name: string; type: string; below: string; error: string }>([
    { name: 'no-directory', type: 'Directory', below: 'file', error: 'is not a directory' },
    { name: 'no-directory-to-make', type: 'DirectoryOrCreate', below: 'file', error: 'is not a directory' },
    { name: 'missing', type: 'Directory', below: 'missing', error: 'is not a directory' },
    { name: 'no-file', type: 'File', below: 'folder', error: 'is not a file' },
    { name: 'no-file-to-make', type: 'FileOrCreate', below: 'pipe', error: 'is not a file' },
    { name: 'no-socket', type: 'Socket', below: 'file', error: 'is not a socket file' },
    { name: 'no-device', type: 'BlockDevice', below: 'file', error: 'is not a block device' },
  ])('of another type is refused, and no container is made: $name', async ({ name, type, below, error }, { node }) => {
    const path = folder(node, name);
    writeFileSync(join(path, 'file'), '');
    mkdirSync(join(path, 'folder'));
    execFileSync('mkfifo', [join(path, 'pipe')]);
    const whole = join(path, below);
    node.apply({
      name,
      volumes: [{ name: 'data', hostPath: { type, path: whole } }],
      containers: [{ volumeMounts: mounts('/data') }],
    });
    const text = `MountVolume.SetUp failed for volume "data" : hostPath type check failed: ${whole} ${error}`;
    // It is tried again meanwhile.
    await eventually('the event says so, again and again', () => failedMounts(node, name).length >= 2);
    expect(new Set(failedMounts(node, name))).toEqual(new Set([text]));
    expect(await node.containersOf(name)).toEqual([]);
    const { stdout } = await node.run('why', name, '--root-dir', node.rootDir);
    expect(stdout).toContain('the volume data is not mounted for');
    expect(stdout).toContain(`${whole} ${error}`);

    if (name !== 'missing') return;
    mkdirSync(whole);
    await running(node, name);
  });

  it('sees mounts that are made on the machine later, or passes its own on, as the propagation says', async ({
    node,
  }) => {
    const path = folder(node, 'propagation');
    execFileSync('mount', ['--bind', path, path]);
    node.beforeDispose(() => Promise.resolve(execFileSync('umount', ['--recursive', '--lazy', path])));
    execFileSync('mount', ['--make-rshared', path]);
    mkdirSync(join(path, 'host'));
    mkdirSync(join(path, 'container'));
    const mount = (mountPropagation: string) => [{ name: 'data', mountPath: '/data', mountPropagation }];
    node.apply({
      name: 'propagation',
      volumes: [{ name: 'data', hostPath: { path } }],
      containers: [
        { name: 'none', volumeMounts: mount('None') },
        { name: 'inward', volumeMounts: mount('HostToContainer') },
        { name: 'both', volumeMounts: mount('Bidirectional'), securityContext: { privileged: true } },
      ],
    });
    const [none, inward, both] = [
      await running(node, 'propagation', 'none'),
      await running(node, 'propagation', 'inward'),
      await running(node, 'propagation', 'both'),
    ];
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(path, 'host')]);
    await sh(node, both.id, 'mount -t tmpfs tmpfs /data/container');
    const seen = async (id: string) =>
      (await sh(node, id, 'cut -d" " -f2 /proc/mounts | grep ^/data/ | sort || true')).split('\n');
    expect(await seen(none.id)).toEqual(['']);
    expect(await seen(inward.id)).toEqual(['/data/container', '/data/host']);
    expect(await seen(both.id)).toEqual(['/data/container', '/data/host']);
    expect(mountsBelow(join(path, 'container'))).toHaveLength(1);
  });
});

overContainerd('a recursively read-only mount', () => {
  it('needs a runtime that declares it, unless it is only asked for if possible', async ({ node }) => {
    const mount = (recursiveReadOnly: string) => [{ ...mounts('/data')[0]!, readOnly: true, recursiveReadOnly }];
    node.apply({
      name: 'recursive',
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        { name: 'enabled', volumeMounts: mount('Enabled') },
        { name: 'possible', volumeMounts: mount('IfPossible') },
      ],
    });
    const { id } = await running(node, 'recursive', 'possible');
    expect(await sh(node, id, '(echo x > /data/x) 2>&1 || true')).toContain('Read-only file system');
    const { runtimeHandlers = [] } = await node.ask((runtime) => runtime.status({ verbose: false }));
    if (runtimeHandlers.some(({ name, features }) => name === '' && features?.recursiveReadOnlyMounts))
      return void (await running(node, 'recursive', 'enabled'));
    await eventually('the status says so', async () => {
      expect(await node.waiting('recursive', 'enabled')).toEqual({
        reason: 'CreateContainerConfigError',
        message:
          'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but it is not supported by the runtime',
      });
      return true;
    });
  });
});

overContainerd('a volume that is not supported', () => {
  const unsupported: Volumes = [{ name: 'data', nfs: { server: '192.0.2.1', path: '/x' } }];

  it('is named by the event and by the status, and nothing of the pod starts', async ({ node }) => {
    node.apply({
      name: 'unsupported',
      volumes: [...unsupported, { name: 'fine', emptyDir: {} }],
      containers: [{ volumeMounts: [...mounts('/data'), { name: 'fine', mountPath: '/fine' }] }],
    });
    const text =
      'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: ' +
      'failed to get Plugin from volumeSpec for volume "data" err=no volume plugin matched: ' +
      'volumes of kind nfs are not supported by this agent';
    await eventually('the event says so', () => failedMounts(node, 'unsupported').includes(text));
    expect(await node.containersOf('unsupported')).toEqual([]);
    expect(await node.waiting('unsupported')).toMatchObject({ reason: 'ContainerCreating' });
    const { stdout } = await node.run('why', 'unsupported', '--root-dir', node.rootDir);
    expect(stdout).toContain('volumes of kind nfs are not supported');
  });

  it('of a claim is refused with the manifest, which names the reason', async ({ node }) => {
    node.apply({
      name: 'claimed',
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'mine' } }],
      containers: [{ volumeMounts: mounts('/data') }],
    });
    await eventually('the log says so', () => /claimed\.yaml.*persistentVolumeClaim/.test(node.log));
    expect(await node.containersOf('claimed')).toEqual([]);
  });

  it('of an image is mounted read-only, or the message says that the runtime may lack them', async ({ node }) => {
    node.apply({
      name: 'image',
      volumes: [{ name: 'data', image: { reference: BUSYBOX, pullPolicy: 'IfNotPresent' } }],
      containers: [{ volumeMounts: mounts('/data') }],
    });
    const { runtimeVersion = '' } = await node.ask((runtime) => runtime.version({}));
    const [major = 0, minor = 0] = runtimeVersion.replace(/^v/, '').split('.').map(Number);
    if (major > 2 || (major === 2 && minor >= 1)) {
      const { id } = await running(node, 'image');
      expect(await sh(node, id, 'cat /data/www/index.html')).toBe('hello from the image');
      expect(await sh(node, id, '(echo x > /data/x) 2>&1 || true')).toContain('Read-only file system');
      return;
    }
    await eventually('it is refused', async () => {
      const { reason, message } = await node.waiting('image');
      expect(reason).toBe('CreateContainerError');
      expect(message).toContain(
        `(the container mounts an image volume, ${BUSYBOX} at /data: the runtime may not support that; containerd does from 2.1 on)`,
      );
      return true;
    });
  });
});
