import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { killProcess } from '../support/kill-process.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';
import { directoryOf, quickRestarts, sh } from './volume-pods.js';

const it = onOneNode(quickRestarts);
const mounts = (mountPath: string) => [{ name: 'data', mountPath }];

overContainerd('an env file', () => {
  const key = (name: string, path: string, optional?: boolean) => ({
    name,
    valueFrom: { fileKeyRef: { volumeName: 'data', path, key: name, ...(optional !== undefined && { optional }) } },
  });

  it('that an init container writes has variables of the next containers, new ones with each start', async ({
    node,
  }) => {
    const write = `printf "PASSWORD='hunter2 of %s'\\nLINES='one\\n two'\\n" file > /data/env.tmp && mv /data/env.tmp /data/sub/env`;
    node.apply({
      name: 'env-file',
      volumes: [{ name: 'data', emptyDir: { medium: 'Memory' } }],
      initContainers: [{ name: 'init', script: `mkdir /data/sub; ${write}`, volumeMounts: mounts('/data') }],
      containers: [
        {
          command: ['sh', '-c', 'exec sleep 2147483', '$(PASSWORD)'],
          env: [key('PASSWORD', 'sub/env'), key('LINES', './sub/env'), key('NONE', 'sub/env', true)],
        },
        { name: 'writer', volumeMounts: mounts('/data') },
      ],
    });
    const show = 'env | grep -c ^NONE; printf "%s|%s" "$PASSWORD" "$LINES"; tr "\\0" "|" < /proc/1/cmdline';
    const main = await running(node, 'env-file');
    expect(await sh(node, main.id, show)).toBe('0\nhunter2 of file|one\n twosleep|2147483|');
    // It mounts no volume itself.
    expect(await sh(node, main.id, 'ls -d /data 2>&1 || true')).toContain('No such file');
    const writer = await running(node, 'env-file', 'writer');
    await sh(node, writer.id, `printf "LINES='3'\\nPASSWORD='hunter3'" > /data/sub/env`);
    killProcess(main.pid);
    const next = await node.reached('env-file', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(await sh(node, next.id, show)).toBe('0\nhunter3|3sleep|2147483|');
    for (const text of [node.log, JSON.stringify(node.journal())]) expect(text).not.toContain('hunter');
    node.withdraw('env-file');
  });

  it('that leads out of its volume, or is none, keeps a container from its start, and the agent goes on', async ({
    node,
  }) => {
    const path = join(node.directory, 'env-outside');
    mkdirSync(path);
    writeFileSync(join(path, 'env'), "STOLEN='hunter4'\n");
    const bad = ['link', 'pipe', 'device', 'missing', 'unquoted'];
    node.apply({
      name: 'hostile',
      volumes: [{ name: 'data', emptyDir: {} }],
      initContainers: [
        {
          name: 'init',
          script: `cd /data; ln -s ${path}/env link; mkfifo pipe; mknod device c 1 5; echo STOLEN=hunter5 > unquoted; echo "A='b'" > other`,
          volumeMounts: mounts('/data'),
        },
      ],
      containers: [
        ...bad.map((name) => ({ name, env: [key('STOLEN', name, true)] })),
        { name: 'lacking', env: [key('STOLEN', 'other')] },
        { name: 'optional', env: [key('STOLEN', 'other', true)] },
      ],
    });
    await running(node, 'hostile', 'optional');
    for (const name of bad)
      await eventually(`${name} waits`, async () => {
        expect(await node.waiting('hostile', name)).toEqual({
          reason: 'CreateContainerConfigError',
          message: "couldn't parse env file",
        });
        return true;
      });
    const volume = join(await directoryOf(node, 'hostile', 'optional'), 'volumes/kubernetes.io~empty-dir/data');
    await eventually('lacking waits', async () => {
      expect(await node.waiting('hostile', 'lacking')).toEqual({
        reason: 'CreateContainerConfigError',
        message: `environment variable key "STOLEN" not found in file "${volume}/other"`,
      });
      return true;
    });
    for (const problem of [
      // The volume is the root directory of the link, and has no such directory.
      `readlink '${volume}/${path.split('/')[1]}'`,
      `${volume}/pipe is not a regular file`,
      `${volume}/device is not a regular file`,
      'ENOENT',
      'line 1: expected a value in single quotes',
    ])
      expect(node.log).toContain(problem);
    for (const text of [node.log, JSON.stringify(node.journal())]) expect(text).not.toContain('hunter');
    node.withdraw('hostile');
  });
});
