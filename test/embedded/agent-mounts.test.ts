import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { NODE_NAME } from './agent-files.js';
import { Daemon, isRoot, it } from './daemon.js';
import { eventually } from './eventually.js';
import type { ContainerOf, PodOf } from './manifests.js';

const podOf = async (daemon: Daemon, name: string) =>
  (await daemon.shownPods()).find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`);

/** How the only container of a pod that is not started again has ended, as the agent shows it. */
const endOf = async (daemon: Daemon, name: string, container: ContainerOf, pod: Partial<PodOf> = {}) => {
  daemon.apply({ ...pod, name, restartPolicy: 'Never', containers: [container] });
  return eventually(
    `${name} has ended`,
    async () => (await podOf(daemon, name))?.status?.containerStatuses?.[0]?.state?.terminated,
  );
};
const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' } as const;
/** Files of the machine that a container might spoil, and how they are. */
const machine = (): readonly unknown[] => [
  readFileSync('/etc/hosts', 'utf8'),
  statSync('/etc/hosts').ino,
  existsSync('/dev/termination-log'),
];

describe.runIf(isRoot)('over the embedded runtime, as root', () => {
  it('a container has a hosts file and a file of its own for a termination message, and the machine keeps its files', async ({
    daemon,
  }) => {
    const before = machine();
    await daemon.start();
    const script = 'cat /etc/hosts; echo spoilt > /etc/hosts; echo bye > /dev/termination-log; exit 3';
    const hostAliases = [{ ip: '192.0.2.7', hostnames: ['db'] }];
    const pod = { hostname: 'box', hostAliases };
    expect(await endOf(daemon, 'own', { script }, pod)).toMatchObject({ exitCode: 3, message: 'bye\n' });
    const content = daemon.output(await daemon.reached('own', 'CONTAINER_EXITED'));
    expect(content[0]).toBe('# Kubernetes-managed hosts file.');
    expect(content.slice(-4)).toEqual([
      expect.stringMatching(/^[0-9a-f.:]+\tbox$/),
      '',
      '# Entries added by HostAliases.',
      '192.0.2.7\tdb',
    ]);
    const elsewhere = { script: 'echo elsewhere > /no/such/place; exit 3', terminationMessagePath: '/no/such/place' };
    expect(await endOf(daemon, 'elsewhere', elsewhere)).toMatchObject({ exitCode: 3, message: 'elsewhere\n' });
    expect(existsSync('/no')).toBe(false);
    expect(machine()).toEqual(before);

    const [folder = ''] = readdirSync(join(daemon.rootDir, 'pods'));
    const directory = join(daemon.rootDir, 'pods', folder);
    for (const name of ['own.yaml', 'elsewhere.yaml']) daemon.delete(name);
    await eventually('its directory is gone', () => !existsSync(directory));
  });
});

describe.runIf(isRoot)('over the embedded runtime, as an ordinary user', () => {
  it('a container runs without mounts, and the end of its log is its termination message', async () => {
    const daemon = new Daemon(65534);
    try {
      await daemon.start();
      const script = 'test -e /dev/termination-log && exit 9; echo in the log; exit 3';
      expect(await endOf(daemon, 'logged', { ...fallback, script })).toMatchObject({
        ...{ exitCode: 3, message: 'in the log\n' },
      });
      const { mounts } = await daemon.reached('logged', 'CONTAINER_EXITED');
      expect(mounts).toEqual([]);
    } finally {
      await daemon.dispose();
    }
  });
});
