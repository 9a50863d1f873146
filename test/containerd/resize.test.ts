import { expect } from 'vitest';
import type { ContainerStatus, Pod } from '../../src/model/pod/pod.js';
import { apiOverHttp } from '../embedded/api-over-http.js';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { joined } from '../embedded/joined.js';
import { manifest } from '../embedded/manifests.js';
import { BUSYBOX, it, WAIT } from './containerd-node.js';
import { limitsOf } from './limits-of.js';
import { overContainerd } from './missing.js';

const NAMESPACE = '/api/v1/namespaces/default';
/** Named like a static pod, so that its containers are found as theirs. */
const NAME = `sized-${NODE_NAME}`;
const POD = `${NAMESPACE}/pods/${NAME}`;
const MIB = 2 ** 20;

const amounts = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
/** Keeps `mib` MiB in memory until it ends. */
const FILL = (mib: number) => `head -c ${mib}m /dev/zero > /dev/shm/it; ${WAIT}`;

/** The API server is in this process: Debian's is older than resizes. */
overContainerd('a pod that is resized through the API', () => {
  it('has its amounts in the cgroups of its containers, one of which is restarted for them', async ({ node }) => {
    const api = await apiOverHttp(NODE_NAME);
    node.beforeDispose(() => Promise.resolve(api.close()));
    const { server } = api;
    server.do({ method: 'POST', path: `${NAMESPACE}/serviceaccounts`, body: { metadata: { name: 'robot' } } });
    const start = () => node.start('--kubeconfig', joined(node.directory, api.url), '--port', '0');
    await start();
    const restartsFor = { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] };
    const containers = [
      { name: 'main', image: BUSYBOX, script: FILL(20), resources: amounts('100m', '64Mi') },
      { name: 'fresh', image: BUSYBOX, script: WAIT, resources: amounts('100m', '64Mi'), ...restartsFor },
    ];
    const pod = manifest(node.directory, { name: NAME, nodeName: NODE_NAME, serviceAccountName: 'robot', containers });
    server.do({ method: 'POST', path: `${NAMESPACE}/pods`, body: JSON.parse(pod) as object });
    const shown = () => server.get(POD) as unknown as Pod;
    const statusOf = (name: string): ContainerStatus | undefined =>
      shown().status?.containerStatuses?.find((status) => status.name === name);
    const condition = (type: string) => shown().status?.conditions?.find((found) => found.type === type);
    const resize = (main: object, fresh: object): void => {
      const spec = {
        containers: [
          { name: 'main', resources: main },
          { name: 'fresh', resources: fresh },
        ],
      };
      const contentType = 'application/strategic-merge-patch+json';
      server.do({ method: 'PATCH', path: `${POD}/resize`, contentType, body: { spec } });
    };
    const isDone = (main: string, fresh: string): boolean =>
      condition('PodResizeInProgress') === undefined &&
      statusOf('main')?.resources?.limits?.memory === main &&
      statusOf('fresh')?.state?.running !== undefined &&
      statusOf('fresh')?.resources?.limits?.memory === fresh;
    const limits = async (name: string) => {
      const attempt = statusOf(name)?.restartCount ?? 0;
      const { id } = await node.reached('sized', 'CONTAINER_RUNNING', { name, attempt });
      return { id, ...limitsOf(await node.pidOf(id)) };
    };
    await eventually('both containers run', () => isDone('64Mi', '64Mi'));
    const before = await limits('main');
    expect(before).toMatchObject({ memory: 64 * MIB, cpuQuota: 10_000, cpuShares: 102 });

    resize(amounts('200m', '96Mi'), amounts('150m', '80Mi'));
    await eventually('both have more', () => isDone('96Mi', '80Mi'));
    expect(await limits('main')).toMatchObject({
      ...{ id: before.id, memory: 96 * MIB, cpuQuota: 20_000, cpuShares: 204 },
    });
    expect(await limits('fresh')).toMatchObject({ memory: 80 * MIB, cpuQuota: 15_000 });
    expect([statusOf('main')?.restartCount, statusOf('fresh')?.restartCount]).toEqual([0, 1]);

    // What is in use cannot be taken; what the agent was given meanwhile is done once it fits.
    resize(amounts('200m', '16Mi'), amounts('150m', '80Mi'));
    await eventually('the resize fails', () => condition('PodResizeInProgress')?.reason === 'Error');
    expect(condition('PodResizeInProgress')?.message).toMatch(
      /^cannot decrease memory limits: .*attempting to set container "main" memory limit \(16777216\) below current usage \(\d+\)/,
    );
    expect(await limits('main')).toMatchObject({ id: before.id, memory: 96 * MIB });
    await node.kill('SIGKILL');
    await start();
    expect(await node.exec(before.id, 'rm', '/dev/shm/it')).toBe('');
    await eventually('the container has less', () => isDone('16Mi', '80Mi'));
    expect(await limits('main')).toMatchObject({ id: before.id, memory: 16 * MIB, cpuQuota: 20_000 });
    expect(statusOf('fresh')?.restartCount).toBe(1);
    server.do({ method: 'DELETE', path: POD });
    await eventually('the pod is gone', () => server.list(`${NAMESPACE}/pods`).length === 0);
  });
});
