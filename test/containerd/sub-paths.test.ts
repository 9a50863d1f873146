import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { killProcess } from '../support/kill-process.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';
import { directoryOf, folder, gone, mounts, mountsBelow, quickRestarts, sh } from './volume-pods.js';

const it = onOneNode(quickRestarts);

/** Most instances do not start, since their directory is a link at the moment. */
const SWAPPED_MS = 300_000;

overContainerd('a sub-path', () => {
  it('is a directory or a file of the volume, by its name or by variables', async ({ node }) => {
    const path = folder(node, 'sub-paths');
    mkdirSync(join(path, 'inside/deep'), { recursive: true });
    writeFileSync(join(path, 'inside/deep/file'), 'of the volume\n');
    symlinkSync('inside', join(path, 'alias'));
    const mount = (mountPath: string, fields: object) => ({ name: 'data', mountPath, ...fields });
    node.apply({
      name: 'sub-paths',
      volumes: [{ name: 'data', hostPath: { path } }],
      containers: [
        {
          env: [{ name: 'WHO', value: 'me' }],
          volumeMounts: [
            mount('/directory', { subPath: 'inside/deep' }),
            mount('/file', { subPath: 'inside/deep/file', readOnly: true }),
            mount('/by-link', { subPath: 'alias/deep' }),
            mount('/new', { subPath: 'made/for/it' }),
            mount('/own', { subPathExpr: 'of-$(WHO)/$(POD_UID)' }),
          ],
        },
      ],
    });
    const { id, status } = await running(node, 'sub-paths');
    expect(await sh(node, id, 'cat /directory/file /file /by-link/file')).toBe(
      ['of the volume', 'of the volume', 'of the volume'].join('\n'),
    );
    expect(await sh(node, id, '(echo x > /file) 2>&1 || true')).toContain('Read-only file system');
    await sh(node, id, 'echo one > /new/one; echo two > /own/two');
    const uid = status.labels['io.kubernetes.pod.uid'] ?? '';
    expect(readFileSync(join(path, 'made/for/it/one'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(path, 'of-me', uid, 'two'), 'utf8')).toBe('two\n');
    const directory = await directoryOf(node, 'sub-paths');
    const targets = [0, 1, 2, 3, 4].map((index) => join(directory, 'volume-subpaths/data/main', String(index)));
    expect(mountsBelow(directory).toSorted()).toEqual(targets);

    // Another instance uses the same ones.
    killProcess((await running(node, 'sub-paths')).pid);
    const next = await node.reached('sub-paths', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(await sh(node, next.id, 'cat /own/two')).toBe('two');
    expect(mountsBelow(directory).toSorted()).toEqual(targets);
    node.withdraw('sub-paths');
    await gone(directory);
    expect(existsSync(join(path, 'inside/deep/file'))).toBe(true);
  });

  it('never leads out of its volume, and the message shows no path of the machine', async ({ node }) => {
    const path = folder(node, 'prison');
    const outside = folder(node, 'outside');
    writeFileSync(join(outside, 'file'), 'not for the pod\n');
    symlinkSync(outside, join(path, 'absolute'));
    symlinkSync('../host-outside', join(path, 'relative'));
    symlinkSync('/proc/1/root', join(path, 'magic'));
    const subPaths = ['absolute', 'relative/file', 'relative/new', 'magic/etc'];
    node.apply({
      name: 'prison',
      volumes: [{ name: 'data', hostPath: { path } }],
      containers: subPaths.map((subPath, index) => ({
        name: `c${index}`,
        volumeMounts: [{ name: 'data', mountPath: '/data', subPath }],
      })),
    });
    for (const index of subPaths.keys()) {
      await eventually(`${subPaths[index]} is refused`, async () => {
        expect(await node.waiting('prison', `c${index}`)).toEqual({
          reason: 'CreateContainerConfigError',
          message: `failed to prepare subPath for volumeMount "data" of container "c${index}"`,
        });
        return true;
      });
    }
    expect(await node.containersOf('prison')).toEqual([]);
    expect(existsSync(join(outside, 'new'))).toBe(false);
    rmSync(join(path, 'absolute'));
    mkdirSync(join(path, 'absolute'));
    await running(node, 'prison', 'c0');
  });

  it(
    'stays inside although another container exchanges a directory for a link all the time',
    { timeout: 2 * SWAPPED_MS },
    async ({ node }) => {
      const outside = folder(node, 'target');
      writeFileSync(join(outside, 'secret'), 'of the machine\n');
      node.apply({
        name: 'swapped',
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'target', hostPath: { path: outside } },
        ],
        containers: [
          {
            name: 'attacker',
            volumeMounts: mounts('/data'),
            script: `mkdir /data/x /data/real; echo "of the volume" > /data/real/secret; rmdir /data/x
while :; do ln -s ${outside} /data/x; rm /data/x; mkdir /data/x; rmdir /data/x; done`,
          },
          // It ends at once, so the sub-path is resolved for each instance. What it sees stays in the memory that the pod shares.
          {
            name: 'victim',
            volumeMounts: [{ name: 'data', mountPath: '/sub', subPath: 'x' }],
            script: 'if [ -e /sub/secret ]; then cat /sub/secret; else echo nothing; fi >> /dev/shm/seen; exit 1',
          },
        ],
      });
      const attacker = await running(node, 'swapped', 'attacker');
      const seen = await eventually(
        'six instances have looked',
        async () => {
          const lines = (await node.exec(attacker.id, 'cat', '/dev/shm/seen')).split('\n');
          return lines.length >= 6 && lines;
        },
        SWAPPED_MS,
      );
      expect([...new Set(seen)]).toEqual(['nothing']);
    },
  );
});
