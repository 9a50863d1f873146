import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Daemon, isRoot, it } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';
import { mountedBelow } from '../support/mounted-below.js';
import { configMap, secret } from './objects.js';
import { inside, isGone, isRead } from './volume-views.js';

const modeAndOwner = (daemon: Daemon, pod: string, ...paths: readonly string[]) =>
  inside(daemon, pod, `stat -L -c '%a %u:%g %n' ${paths.join(' ')}`);

const settings = (version: string) => configMap('settings', { level: `level ${version}`, color: `color ${version}` });
const owners = { runAsUser: 1234, runAsGroup: 1234, fsGroup: 2345 };

describe.runIf(isRoot).concurrent('the volumes of a pod, as its container sees them', () => {
  it('have their content, modes, owners and file systems, and end with the pod', async ({ daemon }) => {
    daemon.write('settings.yaml', settings('1'));
    daemon.write('keys.yaml', secret('keys', { password: 'hunter2' }));
    const hosted = join(daemon.directory, 'hosted');
    daemon.apply({
      name: 'viewer',
      labels: { app: 'viewer' },
      securityContext: owners,
      containers: [
        {
          script: SLEEP,
          resources: { limits: { memory: '64Mi' } },
          env: [{ name: 'WHICH', value: 'logs' }],
          volumeMounts: [
            { name: 'scratch', mountPath: '/rx/scratch' },
            { name: 'scratch', mountPath: '/rx/logs', subPathExpr: 'deep/$(WHICH)' },
            { name: 'memory', mountPath: '/rx/memory' },
            { name: 'settings', mountPath: '/rx/settings' },
            { name: 'settings', mountPath: '/rx/one-file', subPath: 'level' },
            { name: 'keys', mountPath: '/rx/keys' },
            { name: 'about', mountPath: '/rx/about' },
            { name: 'all', mountPath: '/rx/all' },
            { name: 'hosted', mountPath: '/rx/hosted' },
            { name: 'hosted', mountPath: '/rx/read-only', readOnly: true },
          ],
        },
      ],
      volumes: [
        { name: 'scratch', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        { name: 'settings', configMap: { name: 'settings', defaultMode: 0o640 } },
        { name: 'keys', secret: { secretName: 'keys', defaultMode: 0o400 } },
        {
          name: 'about',
          downwardAPI: {
            items: [
              { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
              {
                path: 'memory',
                resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Mi' },
              },
            ],
          },
        },
        {
          name: 'all',
          projected: {
            sources: [
              { configMap: { name: 'settings', items: [{ key: 'color', path: 'deep/color', mode: 0o444 }] } },
              { configMap: { name: 'none', optional: true } },
              { secret: { name: 'keys' } },
              { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
            ],
          },
        },
        { name: 'hosted', hostPath: { path: hosted, type: 'DirectoryOrCreate' } },
      ],
    });
    await daemon.start();
    await daemon.reached('viewer', 'CONTAINER_RUNNING');

    const files = 'settings/level settings/color one-file keys/password about/labels about/memory';
    const projected = 'all/deep/color all/password all/name';
    expect(await inside(daemon, 'viewer', `cd /rx; for f in ${files} ${projected}; do cat $f; echo; done`)).toEqual([
      ...['level 1', 'color 1', 'level 1', 'hunter2', 'app="viewer"', '64'],
      ...['color 1', 'hunter2', 'viewer-node1'],
    ]);
    expect(await inside(daemon, 'viewer', 'id -u; id -g; id -G')).toEqual(['1234', '1234', '1234 2345']);
    expect(await modeAndOwner(daemon, 'viewer', ...['scratch', 'memory', 'logs'].map((name) => `/rx/${name}`))).toEqual(
      ['2777 0:2345 /rx/scratch', '3777 0:2345 /rx/memory', '2777 0:2345 /rx/logs'],
    );
    const read = ['settings/level', 'keys/password', 'about/labels', 'all/deep/color', 'all/password'];
    expect(await modeAndOwner(daemon, 'viewer', ...read.map((name) => `/rx/${name}`))).toEqual([
      '640 0:2345 /rx/settings/level',
      '440 0:2345 /rx/keys/password',
      '644 0:2345 /rx/about/labels',
      '444 0:2345 /rx/all/deep/color',
      '644 0:2345 /rx/all/password',
    ]);
    // What must not touch a disk is in memory, with the size that was asked for.
    expect(await inside(daemon, 'viewer', 'stat -f -c %T /rx/memory /rx/keys /rx/all')).toEqual(Array(3).fill('tmpfs'));
    expect(await inside(daemon, 'viewer', 'df -k --output=size /rx/memory | tail -n 1 | tr -d " "')).toEqual(['1024']);

    // The user of the container writes where it may, and nowhere else.
    const refused = ['/rx/settings/new', '/rx/keys/new', '/rx/one-file', '/rx/read-only/new', '/rx/all/new'];
    const writes = refused.map((path) => `(echo x > ${path}) 2>/dev/null && echo ${path}`).join('; ');
    expect(await inside(daemon, 'viewer', `${writes}; echo end`)).toEqual(['end']);
    const group = 'echo mine > /rx/scratch/file; echo log > /rx/logs/file; echo m > /rx/memory/file';
    expect(
      await inside(daemon, 'viewer', `${group}; stat -c '%u:%g' /rx/*/file; cat /rx/scratch/deep/logs/file`),
    ).toEqual(['1234:2345', '1234:2345', '1234:2345', 'log']);
    expect([existsSync('/rx'), statSync(hosted).mode & 0o7777]).toEqual([false, 0o755]);

    // The files of the machine stay, those of the pod go.
    writeFileSync(join(hosted, 'kept'), 'kept');
    expect(mountedBelow(daemon.rootDir).length).toBeGreaterThanOrEqual(4);
    daemon.withdraw('viewer');
    await isGone(daemon);
    expect(readFileSync(join(hosted, 'kept'), 'utf8')).toBe('kept');
  });

  it('follow an edit of their object in the running container, whole at any time, and survive a wrong one', async ({
    daemon,
  }) => {
    daemon.write('settings.yaml', settings('1'));
    daemon.write('keys.yaml', secret('keys', { password: 'old' }));
    // A reader that finds the files of one version, or finds that it was switched away meanwhile.
    const look = `cd -P /rx/settings/..data && a=$(cat level) && b=$(cat color)`;
    const script = `while :; do now=$(readlink /rx/settings/..data)
        if (${look} && [ "\${a#level }" != "\${b#color }" ]); then echo "mixture" >> "$DIR/problems"; fi
        (${look}) 2>/dev/null || [ "$now" != "$(readlink /rx/settings/..data)" ] || echo "not whole" >> "$DIR/problems"
        cat /rx/settings/level > /dev/null || echo "missing" >> "$DIR/problems"
        echo >> "$DIR/looks"; sleep 0.02; done`;
    daemon.apply({
      name: 'reader',
      containers: [
        {
          script,
          volumeMounts: [
            { name: 'settings', mountPath: '/rx/settings' },
            { name: 'keys', mountPath: '/rx/keys' },
            { name: 'all', mountPath: '/rx/all' },
          ],
        },
      ],
      volumes: [
        { name: 'settings', configMap: { name: 'settings' } },
        { name: 'keys', secret: { secretName: 'keys' } },
        { name: 'all', projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'keys' } }] } },
      ],
    });
    await daemon.start();
    const before = await daemon.reached('reader', 'CONTAINER_RUNNING');
    for (let version = 2; version <= 12; version += 1) {
      daemon.write('settings.yaml', settings(String(version)));
      await isRead(daemon, 'reader', '/rx/settings/level', `level ${version}`);
      await isRead(daemon, 'reader', '/rx/all/color', `color ${version}`);
    }
    daemon.write('keys.yaml', secret('keys', { password: 'new' }));
    await isRead(daemon, 'reader', '/rx/keys/password', 'new');
    await isRead(daemon, 'reader', '/rx/all/password', 'new');

    // An edit that is wrong loses nothing, and the next one counts.
    daemon.write('settings.yaml', settings('13').replace('"color 13"', '13'));
    await eventually('the mistake is logged', () =>
      daemon.logged().some(({ message }) => message.includes('settings.yaml') && message.includes('data.color')),
    );
    expect(await inside(daemon, 'reader', 'cat /rx/settings/level; echo; cat /rx/settings/color')).toEqual([
      'level 12',
      'color 12',
    ]);
    daemon.write('settings.yaml', settings('14'));
    await isRead(daemon, 'reader', '/rx/settings/level', 'level 14');

    expect(daemon.lines('problems')).toEqual([]);
    expect(daemon.lines('looks').length).toBeGreaterThan(12);
    expect((await daemon.reached('reader', 'CONTAINER_RUNNING')).id).toBe(before.id);
    daemon.withdraw('reader');
    await isGone(daemon);
  });

  it('follow the labels of a pod that keeps its UID, and go when the agent stops its pods', async ({ daemon }) => {
    const labelled = (version: string) => {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'labelled', uid: 'of-its-own', labels: { version } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              ...{ name: 'main', image: 'host', command: ['/bin/sh', '-c', SLEEP] },
              volumeMounts: [
                { name: 'about', mountPath: '/rx/about' },
                { name: 'memory', mountPath: '/rx/memory' },
              ],
            },
          ],
          volumes: [
            {
              name: 'about',
              downwardAPI: {
                items: [{ path: 'version', fieldRef: { fieldPath: "metadata.labels['version']" } }],
              },
            },
            { name: 'memory', emptyDir: { medium: 'Memory' } },
          ],
        },
      };
      daemon.write('labelled.yaml', JSON.stringify(pod));
    };
    labelled('one');
    await daemon.start('--stop-pods-on-exit');
    await isRead(daemon, 'labelled', '/rx/about/version', 'one');
    const { id } = await daemon.reached('labelled', 'CONTAINER_RUNNING');
    labelled('two');
    await isRead(daemon, 'labelled', '/rx/about/version', 'two');
    expect((await daemon.reached('labelled', 'CONTAINER_RUNNING')).id).toBe(id);
    expect(mountedBelow(daemon.rootDir)).not.toEqual([]);

    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(mountedBelow(daemon.rootDir)).toEqual([]);
    expect(
      readdirSync(join(daemon.rootDir, 'pods', 'of-its-own', 'volumes')).flatMap((plugin) =>
        readdirSync(join(daemon.rootDir, 'pods', 'of-its-own', 'volumes', plugin)),
      ),
    ).toEqual([]);
  });

  it('that an administrator has changed by hand are repaired by the next life of the agent', async ({ daemon }) => {
    daemon.write('settings.yaml', settings('1'));
    daemon.apply({
      name: 'edited',
      containers: [{ script: SLEEP, volumeMounts: [{ name: 'settings', mountPath: '/rx/settings' }] }],
      volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
    });
    await daemon.start();
    const before = await daemon.reached('edited', 'CONTAINER_RUNNING');
    const pods = join(daemon.rootDir, 'pods');
    const [uid = ''] = readdirSync(pods);
    const volume = join(pods, uid, 'volumes', 'kubernetes.io~configmap', 'settings');
    writeFileSync(join(volume, '..data', 'level'), 'by hand');
    rmSync(join(volume, 'color'));
    expect(await inside(daemon, 'edited', 'cat /rx/settings/level')).toEqual(['by hand']);
    await daemon.kill('SIGKILL');
    await daemon.start();
    await isRead(daemon, 'edited', '/rx/settings/level', 'level 1');
    await isRead(daemon, 'edited', '/rx/settings/color', 'color 1');
    expect((await daemon.reached('edited', 'CONTAINER_RUNNING')).id).toBe(before.id);
    daemon.withdraw('edited');
    await isGone(daemon);
  });

  it('of an unsupported kind, or of the wrong type, are named by the event and by why', async ({ daemon }) => {
    mkdirSync(join(daemon.directory, 'folder'));
    const waiting = (name: string, volume: object) =>
      daemon.apply({
        name,
        containers: [{ script: SLEEP, volumeMounts: [{ name: 'data', mountPath: '/rx/data' }] }],
        volumes: [{ name: 'data', ...volume }],
      });
    waiting('remote', { nfs: { server: 'nfs.test', path: '/export' } });
    waiting('local', { hostPath: { path: join(daemon.directory, 'folder'), type: 'File' } });
    waiting('objectless', { configMap: { name: 'late' } });
    await daemon.start();
    const problems = {
      remote: 'volumes of kind nfs are not supported by this agent',
      local: 'hostPath type check failed',
      objectless: 'configmap "late" not found',
    };
    for (const [name, problem] of Object.entries(problems)) {
      await eventually(`the event of ${name}`, () => {
        const messages = daemon
          .journal()
          .filter((entry) => entry.kind === 'event' && entry.pod?.name === `${name}-node1`)
          .map((entry) => (entry.kind === 'event' ? `${entry.reason} ${entry.message}` : ''));
        expect(messages).toContainEqual(expect.stringMatching(/^FailedMount .*"data"/));
        expect(messages.join('\n')).toContain(problem);
        return true;
      });
      const { stdout } = await daemon.run('why', `${name}-node1`, '--root-dir', daemon.rootDir);
      expect(stdout).toMatch(/data.*is not mounted for \d+ |\d+ \w+ ago .*volume "data"/);
      expect(stdout).toContain(problem);
      expect(daemon.processesOf(name)).toEqual([]);
    }
    // An object that comes later ends the wait.
    daemon.write('late.yaml', configMap('late', { key: 'value' }));
    await isRead(daemon, 'objectless', '/rx/data/key', 'value');
    for (const name of Object.keys(problems)) daemon.withdraw(name);
    await isGone(daemon);
  });

  it('that only an API server has are refused with the manifest', async ({ daemon }) => {
    daemon.apply({ name: 'claiming', volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'disk' } }] });
    const { code, stdout } = await daemon.run('validate', daemon.manifests);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/spec\.volumes\[0\].*claim/)]);
  });
});
