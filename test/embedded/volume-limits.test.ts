import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { CLIMBING_PODS } from '../containerd/climbing-pods.js';
import { mountedBelow } from '../support/mounted-below.js';
import { type Daemon, isRoot, it } from './daemon.js';
import { eventually } from './eventually.js';
import { configMap, secret } from './objects.js';
import { failedMounts, inside, isGone } from './volume-views.js';

const range = (count: number): readonly number[] => [...Array(count).keys()];
const mount = (name: string) => ({ name, mountPath: `/rx/${name}` });

/** Puts a small disk below the directories of the pods, which the journal is not on; returns how to remount it. */
const smallDisk = (daemon: Daemon): ((how: 'ro' | 'rw') => void) => {
  const pods = join(daemon.rootDir, 'pods');
  mkdirSync(pods);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', pods]);
  return (how) => void execFileSync('mount', ['-o', `remount,${how}`, pods]);
};

const CONFIG_BYTES = 400_000;
const put = (daemon: Daemon, version: string): void => {
  daemon.write('config.yaml', configMap('config', { version, large: version.repeat(CONFIG_BYTES) }));
  daemon.write('secret.yaml', secret('secret', { version }));
};
const apply = (daemon: Daemon, name: string): void =>
  daemon.apply({
    name,
    volumes: [
      { name: 'config', configMap: { name: 'config' } },
      { name: 'secret', secret: { secretName: 'secret' } },
      { name: 'disk', emptyDir: {} },
    ],
    containers: [{ volumeMounts: ['config', 'secret', 'disk'].map(mount) }],
  });
const hasVersions = (daemon: Daemon, pod: string, config: string, secretVersion: string): Promise<unknown> =>
  eventually(`${pod} has ${config} and ${secretVersion}`, async () => {
    const seen = await inside(daemon, pod, 'cd /rx; cat config/version secret/version; head -c 1 config/large');
    expect(seen).toEqual([`${config}${secretVersion}${config}`]);
    return true;
  });
const failsWith = (daemon: Daemon, pod: string, code: string): Promise<unknown> =>
  eventually(`the event of ${pod} has ${code}`, () =>
    failedMounts(daemon, pod).some((text) =>
      text.startsWith(`MountVolume.SetUp failed for volume "config" : ${code}: `),
    ),
  );

describe.runIf(isRoot).concurrent('over the embedded runtime, a pod', () => {
  it('has fifty volumes, five hundred keys in one of them, and a whole mebibyte in another', async ({ daemon }) => {
    const keys = (from: number, value: string) =>
      Object.fromEntries(range(500).map((index) => [`key.${from + index}`, value]));
    daemon.write('keys.yaml', configMap('keys', keys(0, 'first')));
    daemon.write('large.yaml', configMap('large', { one: 'a'.repeat(512 * 1024), two: 'a'.repeat(512 * 1024) }));
    const indexes = range(12);
    for (const index of indexes) daemon.write(`s${index}.yaml`, secret(`s${index}`, { file: `secret ${index}` }));
    const volumes = [
      { name: 'keys', configMap: { name: 'keys' } },
      { name: 'large', configMap: { name: 'large' } },
      ...indexes.flatMap((index) => [
        { name: `secret-${index}`, secret: { secretName: `s${index}` } },
        { name: `disk-${index}`, emptyDir: {} },
        { name: `memory-${index}`, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        {
          name: `about-${index}`,
          downwardAPI: { items: [{ path: 'file', fieldRef: { fieldPath: 'metadata.name' } }] },
        },
      ]),
    ];
    expect(volumes).toHaveLength(50);
    daemon.apply({ name: 'fifty', volumes, containers: [{ volumeMounts: volumes.map(({ name }) => mount(name)) }] });
    await daemon.start();
    const write =
      'cd /rx; for n in disk-* memory-*; do echo $n > $n/file; done; grep -h . disk-*/file memory-*/file | sort -u | wc -l';
    expect(await inside(daemon, 'fifty', write)).toEqual(['24']);
    const read =
      'cd /rx; ls | wc -l; cat secret-*/file about-*/file | wc -c; cat large/one large/two | tr -d a | wc -c; cat large/* | wc -c';
    const bytes = indexes.reduce((sum, index) => sum + `secret ${index}`.length + 'fifty-node1'.length, 0);
    expect((await inside(daemon, 'fifty', read)).map(Number)).toEqual([50, bytes, 0, 1024 * 1024]);
    // In memory are secrets, the downward API and what asks for it.
    expect(mountedBelow(join(daemon.rootDir, 'pods'))).toHaveLength(36);

    const shown = (): Promise<readonly string[]> =>
      inside(
        daemon,
        'fifty',
        'cd /rx/keys; ls | wc -l; cat key.* | grep -o second | wc -l; ls | sort -t. -n -k2 | head -1',
      );
    expect(await shown()).toEqual(['500', '0', 'key.0']);
    daemon.write('keys.yaml', configMap('keys', keys(250, 'second')));
    await eventually('hundreds of keys have come and gone', async () => {
      expect(await shown()).toEqual(['500', '500', 'key.250']);
      return true;
    });
    daemon.withdraw('fifty');
    await isGone(daemon);
  });

  it('with ".." in a path, or of an object with ".." in a key, is refused by the name of the field', async ({
    daemon,
  }) => {
    for (const { name, volumes, container } of CLIMBING_PODS)
      daemon.apply({ name, ...(volumes && { volumes }), ...(container && { containers: [container] }) });
    daemon.write('climbing.yaml', configMap('climbing', { '../../new': 'x' }));
    await daemon.start();
    const logged = (file: string, text: string): boolean =>
      daemon.logged().some((line) => {
        const whole = Object.values(line).map(String).join('\n');
        return whole.includes(file) && whole.includes(text);
      });
    for (const { name, field, path } of CLIMBING_PODS) {
      const text = `${field}: is ${JSON.stringify(path)} (expected a path without "..")`;
      await eventually(`the log names ${field}`, () => logged(`${name}.yaml`, text));
    }
    await eventually('the log names the key', () =>
      logged('climbing.yaml', 'data["../../new"]: is "../../new" (expected'),
    );
    expect(await daemon.sandboxes()).toEqual([]);
  });

  it('keeps its files while the disk is full, says so, and has the new ones once there is room', async ({ daemon }) => {
    smallDisk(daemon);
    put(daemon, '1');
    apply(daemon, 'fills');
    await daemon.start();
    await hasVersions(daemon, 'fills', '1', '1');
    const fill = '(dd if=/dev/zero of=/rx/disk/ballast bs=64k 2>&1 || true) | grep -o "No space left"';
    expect(await inside(daemon, 'fills', fill)).toEqual(['No space left']);
    put(daemon, '2');
    await failsWith(daemon, 'fills', 'ENOSPC');
    // A volume in memory has room.
    await hasVersions(daemon, 'fills', '1', '2');
    await inside(daemon, 'fills', 'rm /rx/disk/ballast');
    await hasVersions(daemon, 'fills', '2', '2');
    expect((await daemon.containersOf('fills')).map(({ attempt }) => attempt)).toEqual([0]);
  });

  it('keeps its files while the root directory is read-only, says so, and has the new ones afterwards', async ({
    daemon,
  }) => {
    const remount = smallDisk(daemon);
    put(daemon, '1');
    apply(daemon, 'reads');
    await daemon.start();
    await hasVersions(daemon, 'reads', '1', '1');
    const [{ uid } = { uid: '' }] = await daemon.containersOf('reads');
    remount('ro');
    put(daemon, '2');
    await failsWith(daemon, 'reads', 'EROFS');
    await hasVersions(daemon, 'reads', '1', '2');
    daemon.withdraw('reads');
    await eventually('the log names the volume that cannot go', () =>
      daemon
        .logged()
        .some((line) => line.message === 'a volume could not be taken down' && JSON.stringify(line).includes('EROFS')),
    );
    remount('rw');
    const directory = join(daemon.rootDir, 'pods', uid);
    await eventually('nothing is left of it', () => {
      expect(mountedBelow(directory)).toEqual([]);
      expect(existsSync(directory)).toBe(false);
      return true;
    });
  });
});
