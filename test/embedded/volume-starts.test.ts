import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { killProcess } from '../support/kill-process.js';
import { mountedBelow } from '../support/mounted-below.js';
import { isRoot, it } from './daemon.js';
import { eventually } from './eventually.js';
import { configMap, secret } from './objects.js';
import { QUICK_RESTARTS } from './quick-restarts.js';
import { inside, isGone, waitsWith } from './volume-views.js';

const mount = (name: string, fields: object = {}) => ({ name, mountPath: `/rx/${name}`, ...fields });

describe.runIf(isRoot).concurrent('the volumes that a container finds when it starts', () => {
  it('a container does not start again while a path of the machine is not of its type, and nothing is made in its place', async ({
    daemon,
  }) => {
    const folder = join(daemon.directory, 'machine');
    mkdirSync(folder);
    const listen = async () => {
      const server = createServer().listen(join(folder, 'socket'));
      await eventually('the socket is there', () => server.listening);
      return () => new Promise((resolve) => server.close(resolve));
    };
    const close = await listen();
    writeFileSync(join(folder, 'file'), '');
    daemon.apply({
      name: 'restarted',
      volumes: [
        { name: 'socket', hostPath: { type: 'Socket', path: join(folder, 'socket') } },
        { name: 'file', hostPath: { type: 'FileOrCreate', path: join(folder, 'file') } },
      ],
      containers: [{ volumeMounts: [mount('socket'), mount('file')] }],
    });
    await daemon.start('--config', daemon.configuration(QUICK_RESTARTS));
    await daemon.reached('restarted', 'CONTAINER_RUNNING');
    await close();
    rmSync(join(folder, 'file'));
    killProcess((await daemon.processOf('restarted')).pid);
    expect(await waitsWith(daemon, 'restarted', 'CreateContainerConfigError')).toBe(
      `cannot mount volume "socket" into container "main": hostPath type check failed: ${folder}/socket is not a socket file`,
    );
    expect(existsSync(join(folder, 'socket'))).toBe(false);
    daemon.beforeDispose(await listen());
    await daemon.reached('restarted', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(await inside(daemon, 'restarted', 'stat -c "%F" /rx/socket /rx/file')).toEqual([
      'socket',
      'regular empty file',
    ]);
  });

  it('a sub-path of a key that comes later is the file for the next instance, and for other containers at once', async ({
    daemon,
  }) => {
    const sources = {
      settings: { configMap: { name: 'settings' } },
      keys: { secret: { secretName: 'keys' } },
      both: { projected: { sources: [{ configMap: { name: 'settings' } }] } },
      about: { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    };
    daemon.write('settings.yaml', configMap('settings', { early: '1' }));
    daemon.write('keys.yaml', secret('keys', { early: '1' }));
    const kinds = ['settings', 'keys', 'both'] as const;
    daemon.apply({
      name: 'waiting',
      volumes: Object.entries(sources).map(([name, source]) => ({ name, ...source })),
      containers: [
        { volumeMounts: [...kinds, 'about'].map((name) => mount(name, { subPath: 'later' })) },
        { name: 'other', volumeMounts: kinds.map((name) => mount(name)) },
      ],
    });
    await daemon.start('--config', daemon.configuration(QUICK_RESTARTS));
    expect(await inside(daemon, 'waiting', 'cd /rx; stat -c "%n %F" *')).toEqual(
      ['about', 'both', 'keys', 'settings'].map((name) => `${name} directory`),
    );
    daemon.write('settings.yaml', configMap('settings', { early: '1', later: 'set' }));
    daemon.write('keys.yaml', secret('keys', { early: '1', later: 'key' }));
    const read = ['set', 'key', 'set'];
    await eventually('the other container has the files', async () => {
      const script = `for each in ${kinds.join(' ')}; do cat /rx/$each/later; echo; done`;
      expect(await inside(daemon, 'waiting', script, 'other')).toEqual(read);
      return true;
    });
    killProcess((await daemon.processOf('waiting')).pid);
    await daemon.reached('waiting', 'CONTAINER_RUNNING', { attempt: 1 });
    const script = `for each in ${kinds.join(' ')}; do cat /rx/$each; echo; done`;
    expect(await inside(daemon, 'waiting', script)).toEqual(read);
    daemon.withdraw('waiting');
    await isGone(daemon);
  });

  it('a file system of the machine that is mounted in a sub-path later keeps no new version of the pod from starting', async ({
    daemon,
  }) => {
    const shared = join(daemon.directory, 'shared');
    const later = join(shared, 'test/later');
    mkdirSync(shared);
    execFileSync('mount', ['-t', 'tmpfs', 'shared', shared]);
    execFileSync('mount', ['--make-shared', shared]);
    const apply = (version: string): void =>
      daemon.apply({
        name: 'edited',
        volumes: [{ name: 'data', hostPath: { path: shared } }],
        containers: [{ env: [{ name: 'V', value: version }], volumeMounts: [mount('data', { subPath: 'test' })] }],
      });
    apply('1');
    await daemon.start();
    expect(await inside(daemon, 'edited', 'echo $V')).toEqual(['1']);
    mkdirSync(later);
    execFileSync('mount', ['-t', 'tmpfs', 'later', later]);
    writeFileSync(join(later, 'file'), 'of the machine');
    expect(mountedBelow(daemon.rootDir).filter((point) => point.endsWith('/later'))).toHaveLength(1);
    apply('2');
    await eventually('the new version runs', async () => {
      expect(await inside(daemon, 'edited', 'echo $V')).toEqual(['2']);
      return true;
    });
    daemon.withdraw('edited');
    await isGone(daemon);
    expect(readFileSync(join(later, 'file'), 'utf8')).toBe('of the machine');
  });

  it('a volume or file is mounted inside of another volume that the container has read-only', async ({ daemon }) => {
    daemon.write('settings.yaml', configMap('settings', { key: 'value' }));
    const settings = (mountPath: string, fields: object = {}) => ({ name: 'settings', mountPath, ...fields });
    const readOnly = (name: string, fields: object = {}) => mount(name, { readOnly: true, ...fields });
    daemon.apply({
      name: 'inner',
      volumes: [
        { name: 'disk', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory' } },
        { name: 'deep', emptyDir: {} },
        { name: 'settings', configMap: { name: 'settings' } },
        { name: 'others', configMap: { name: 'settings' } },
      ],
      containers: [
        {
          terminationMessagePath: '/rx/memory/message',
          volumeMounts: [
            readOnly('disk'),
            settings('/rx/disk/a/settings'),
            readOnly('memory'),
            settings('/rx/memory/file', { subPath: 'key' }),
            readOnly('deep', { subPath: 'sub' }),
            settings('/rx/deep/settings'),
            mount('others'),
            settings('/rx/others/file', { subPath: 'key' }),
          ],
        },
      ],
    });
    await daemon.start();
    const files = ['disk/a/settings/key', 'memory/file', 'deep/settings/key', 'others/file', 'others/key'];
    const read = `cd /rx; for each in ${files.join(' ')}; do cat $each; echo; done; stat -c %F memory/message`;
    expect(await inside(daemon, 'inner', read)).toEqual([...files.map(() => 'value'), 'regular empty file']);
    const writes = ['disk/new', 'memory/new', 'deep/new', 'others/new'].map((path) => `(: > /rx/${path}) 2>/dev/null`);
    expect(await inside(daemon, 'inner', `${writes.join(' || ')} || echo read-only`)).toEqual(['read-only']);
    daemon.withdraw('inner');
    await isGone(daemon);
  });
});
