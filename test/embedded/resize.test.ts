import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventsPath } from '../../src/model/kube-api/api-paths.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { pageSize } from '../../src/host/facts/page-size.js';
import { CgroupStage, mounts } from '../edges/host/cgroup-stage.js';
import { killProcess } from '../support/kill-process.js';
import { apiOverHttp, type ApiOverHttp } from './api-over-http.js';
import { type Daemon, isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { joined } from './joined.js';
import { manifest } from './manifests.js';

const NAME = `sized-${NODE_NAME}`;
const POD = `/api/v1/namespaces/default/pods/${NAME}`;
const MIB = 2 ** 20;

const amounts = (memory: string, cpu = '20m') => ({ requests: { cpu, memory }, limits: { memory } });

describe.runIf(isRoot || process.env.CI === 'true')('a pod that is resized through the API', () => {
  it('gets its amounts in its cgroups, and has them over a crash and over kills of the agent', async ({ daemon }) => {
    const { stage, api } = await stageOf(daemon);
    const shown = (): Pod => api.server.get(POD) as unknown as Pod;
    const file = mounts.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
    const cgroup = () =>
      join(stage.in(mounts.version === 2 ? '' : 'memory'), ...['kubepods', 'burstable', `pod${shown().metadata.uid}`]);
    const memoryOfPod = (): number => Number(readFileSync(join(cgroup(), file), 'utf8'));
    const memoryOfContainer = async (): Promise<bigint | undefined> => {
      const { id } = await daemon.reached('sized', 'CONTAINER_RUNNING', {});
      const { status } = await daemon.ask((runtime) => runtime.containerStatus({ containerId: id }));
      return status?.resources?.linux?.memoryLimitInBytes;
    };
    const condition = (type: string) => shown().status?.conditions?.find((found) => found.type === type);
    const isDone = (memory: string): boolean =>
      shown().status?.containerStatuses?.[0]?.resources?.limits?.memory === memory &&
      condition('PodResizeInProgress') === undefined;
    const expectAmounts = async (memory: number, cpu = '20m'): Promise<void> => {
      const resources = amounts(`${memory}Mi`, cpu);
      expect(shown().status?.containerStatuses?.[0]).toMatchObject({
        resources,
        allocatedResources: resources.requests,
      });
      expect(shown().status?.resources).toEqual(resources);
      expect(memoryOfPod()).toBe(memory * MIB);
      expect(await memoryOfContainer()).toBe(BigInt(memory * MIB));
    };
    api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts', body: robot });
    const containers = [{ resources: amounts('35Mi') }];
    const pod = { name: NAME, nodeName: NODE_NAME, serviceAccountName: 'robot', containers };
    const body = JSON.parse(manifest(daemon.directory, pod)) as unknown;
    api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/pods', body });
    const args = ['--kubeconfig', joined(daemon.directory, api.url), '--port', '0'];
    const start = () => daemon.start(...args, '--cgroup-root', `/${stage.name}`);
    await start();
    const isRunning = () => shown().status?.containerStatuses?.[0]?.state?.running !== undefined;
    await eventually('the API shows the container as running', isRunning);
    await expectAmounts(35);
    const process = await daemon.processOf(NAME);

    // More, then less, of a container that goes on.
    api.server.do(resize(amounts('50Mi', '40m')));
    await eventually('the container has more', () => isDone('50Mi'));
    await expectAmounts(50, '40m');
    api.server.do(resize(amounts('40Mi', '30m')));
    await eventually('the container has less', () => isDone('40Mi'));
    await expectAmounts(40, '30m');

    // More than the machine has waits, and is taken back.
    api.server.do(resize(amounts('9000Gi', '30m')));
    await eventually('the resize waits', () => condition('PodResizePending') !== undefined);
    expect(condition('PodResizePending')).toMatchObject({ reason: 'Deferred', observedGeneration: 4 });
    await expectAmounts(40, '30m');
    api.server.do(resize(amounts('40Mi', '30m')));
    await eventually('the condition goes', () => condition('PodResizePending') === undefined);

    // The next agent knows what the pod was given, also without its status; it does what was asked for meanwhile.
    await daemon.kill('SIGKILL');
    api.server.do({ method: 'PATCH', path: `${POD}/status`, contentType: MERGE, body: NO_STATUS });
    api.server.do(resize(amounts('45Mi', '30m')));
    await start();
    await eventually('the container has what was asked for while no agent ran', () => isDone('45Mi'));
    await expectAmounts(45, '30m');
    expect((await daemon.processOf(NAME)).pid).toBe(process.pid);

    // A limit between two pages, of which the kernel keeps whole ones, is written once.
    const writes = () =>
      daemon.journal().filter((entry) => entry.kind === 'call' && entry.call === 'UpdatePodCgroup memory').length;
    const before = writes();
    api.server.do(resize(amounts('45001001', '30m')));
    await eventually('the container has it', () => isDone('45001001'));
    expect(memoryOfPod()).toBe(Math.floor(45_001_001 / PAGE) * PAGE);
    for (const mark of ['a', 'b']) {
      const syncs = () => daemon.journal().filter(({ kind }) => kind === 'sync-ended').length;
      const done = syncs();
      const body = { metadata: { labels: { mark } } };
      api.server.do({ method: 'PATCH', path: POD, contentType: MERGE, body });
      await eventually('the pod is synced', () => syncs() > done);
    }
    expect(writes()).toBe(before + 1);
    api.server.do(resize(amounts('45Mi', '30m')));
    await eventually('the container has what it had', () => isDone('45Mi'));

    killProcess(process.pid, 'SIGKILL');
    const restarts = () => shown().status?.containerStatuses?.[0]?.restartCount ?? 0;
    await eventually('the container runs again', () => restarts() === 1 && isRunning());
    await expectAmounts(45, '30m');

    // A checkpoint that is lost costs one more update of the container; one that is damaged ends the start.
    await daemon.kill('SIGKILL');
    const checkpoint = join(daemon.rootDir, 'allocated_pods_state');
    const content = readFileSync(checkpoint, 'utf8');
    writeFileSync(checkpoint, content.replace('45Mi', '46Mi'));
    daemon.spawn('--pod-manifest-path', daemon.manifests, ...args, '--cgroup-root', `/${stage.name}`);
    await eventually('the agent ends', () => !daemon.isAgentThere());
    expect(daemon.log).toContain(`Error: could not restore state from checkpoint: ${checkpoint}: `);
    writeFileSync(checkpoint, content);
    await start();
    await eventually('the pod is shown', () => isDone('45Mi') && isRunning());
    await expectAmounts(45, '30m');
    expect(restarts()).toBe(1);

    await eventually('the events are at the API server', () => resizeEvents(api).length >= 11);
    expect(resizeEvents(api).toSorted()).toEqual([
      ...[...Array<string>(5).fill('ResizeCompleted'), 'ResizeDeferred'],
      ...Array<string>(5).fill('ResizeStarted'),
    ]);
    api.server.do({ method: 'DELETE', path: POD });
    await eventually('the pod is gone', () => api.server.get(POD) === undefined);
  });
});

describe.runIf(isRoot || process.env.CI === 'true')('a pod with amounts of its own', () => {
  it('gets others as a whole, and its container without a limit has that of the pod', async ({ daemon }) => {
    const { stage, api } = await stageOf(daemon);
    const shown = (): Pod => api.server.get(POD) as unknown as Pod;
    const condition = (type: string) => shown().status?.conditions?.find((found) => found.type === type);
    api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts', body: robot });
    const text = manifest(daemon.directory, { name: NAME, nodeName: NODE_NAME, serviceAccountName: 'robot' });
    const pod = JSON.parse(text) as { readonly spec: object };
    const body = { ...pod, spec: { ...pod.spec, resources: amounts('35Mi') } };
    api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/pods', body });
    const args = ['--kubeconfig', joined(daemon.directory, api.url), '--port', '0'];
    const start = () => daemon.start(...args, '--cgroup-root', `/${stage.name}`);
    await start();
    const { id } = await daemon.reached('sized', 'CONTAINER_RUNNING', {});
    const limits = async () => {
      const { resources } = await daemon.status(id);
      const file = mounts.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
      const tree = stage.in(mounts.version === 2 ? '' : 'memory');
      const cgroup = join(tree, 'kubepods', 'burstable', `pod${shown().metadata.uid}`);
      return [Number(readFileSync(join(cgroup, file), 'utf8')), Number(resources?.linux?.memoryLimitInBytes)];
    };
    expect(await limits()).toEqual([35 * MIB, 35 * MIB]);

    for (const memory of [50, 40]) {
      const resources = amounts(`${memory}Mi`);
      api.server.do({ method: 'PATCH', path: `${POD}/resize`, contentType: MERGE, body: { spec: { resources } } });
      await eventually(
        'the pod has it',
        () =>
          shown().status?.resources?.limits?.memory === `${memory}Mi` && condition('PodResizeInProgress') === undefined,
      );
      expect(await limits()).toEqual([memory * MIB, memory * MIB]);
      expect(shown().status).toMatchObject({ resources, allocatedResources: resources.requests });
      await daemon.kill('SIGKILL');
      await start();
    }
    expect(shown().status?.containerStatuses?.[0]?.restartCount).toBe(0);
    expect(shown().status?.containerStatuses?.[0]?.resources?.limits).toBeUndefined();
    expect(resizeEvents(api).toSorted()).toEqual([
      ...['ResizeCompleted', 'ResizeCompleted', 'ResizeStarted', 'ResizeStarted'],
    ]);
    api.server.do({ method: 'DELETE', path: POD });
    await eventually('the pod is gone', () => api.server.get(POD) === undefined);
  });
});

/** Cgroups and an API server for a daemon; they go after it. */
const stageOf = async (daemon: Daemon) => {
  const stage = new CgroupStage();
  daemon.afterDispose(() => stage.dispose());
  const api = await apiOverHttp(NODE_NAME);
  daemon.beforeDispose(() => Promise.resolve(api.close()));
  return { stage, api };
};

const PAGE = Number(pageSize());
const MERGE = 'application/merge-patch+json';
const NO_STATUS = { status: { containerStatuses: null } };
const robot = { metadata: { name: 'robot' } };

const resize = (resources: ReturnType<typeof amounts>) => ({
  method: 'PATCH' as const,
  path: `${POD}/resize`,
  contentType: 'application/strategic-merge-patch+json',
  body: { spec: { containers: [{ name: 'main', resources }] } },
});

const resizeEvents = ({ server }: ApiOverHttp): readonly string[] =>
  (server.list(eventsPath('default')) as unknown as readonly { readonly reason: string }[])
    .map(({ reason }) => reason)
    .filter((reason) => reason.startsWith('Resize'));
