import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventsPath } from '../../src/model/kube-api/api-paths.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { CgroupStage, mounts } from '../edges/host/cgroup-stage.js';
import { killProcess } from '../support/kill-process.js';
import { apiOverHttp, type ApiOverHttp } from './api-over-http.js';
import { isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { joined } from './joined.js';
import { manifest } from './manifests.js';

const NAME = `sized-${NODE_NAME}`;
const POD = `/api/v1/namespaces/default/pods/${NAME}`;
const MIB = 2 ** 20;

/** A kubelet reports the amounts that a container has; the API object may ask for others. */
describe.runIf(isRoot || process.env.CI === 'true')('a pod that is resized through the API', () => {
  it('a resized pod keeps its amounts over a crash and over a kill of the agent, and its resize is infeasible', async ({
    daemon,
  }) => {
    const stage = new CgroupStage();
    const api = await apiOverHttp(NODE_NAME);
    const shown = (): Pod => api.server.get(POD) as unknown as Pod;
    const memoryOf = (): number => {
      const file = mounts.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
      const path = join(stage.in(mounts.version === 2 ? '' : 'memory'), 'kubepods', 'burstable');
      return Number(readFileSync(join(path, `pod${shown().metadata.uid}`, file), 'utf8'));
    };
    const pending = () => shown().status?.conditions?.find(({ type }) => type === 'PodResizePending');
    const events = () => resizeEvents(api);
    const resources = { requests: { cpu: '20m', memory: '35Mi' }, limits: { memory: '35Mi' } };
    const expectOld = (): void => {
      expect(shown().status?.containerStatuses?.[0]).toMatchObject({
        resources,
        allocatedResources: resources.requests,
      });
      expect(shown().status?.resources?.limits).toEqual({ memory: '35Mi' });
      expect(memoryOf()).toBe(35 * MIB);
    };
    try {
      api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts', body: robot });
      const pod = { name: NAME, nodeName: NODE_NAME, serviceAccountName: 'robot', containers: [{ resources }] };
      const body = JSON.parse(manifest(daemon.directory, pod)) as unknown;
      api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/pods', body });
      const args = ['--kubeconfig', joined(daemon.directory, api.url), '--port', '0'];
      const start = () => daemon.start(...args, '--cgroup-root', `/${stage.name}`);
      await start();
      const isRunning = () => shown().status?.containerStatuses?.[0]?.state?.running !== undefined;
      await eventually('the API shows the container as running', isRunning);
      expectOld();

      api.server.do(resize('40Mi'));
      await eventually('the resize is pending', () => pending()?.observedGeneration === 2);
      expect(pending()).toMatchObject({ status: 'True', reason: 'Infeasible', observedGeneration: 2 });
      expectOld();
      await eventually('the event is at the API server', () => events().length > 0);
      expect(events()).toEqual(['ResizeInfeasible']);

      // While no agent runs, the status is lost and the pod is resized again.
      await daemon.kill('SIGKILL');
      api.server.do({
        method: 'PATCH',
        path: `${POD}/status`,
        contentType: MERGE,
        body: { status: { containerStatuses: null } },
      });
      api.server.do(resize('50Mi'));
      await start();
      await eventually('the second resize is pending', () => pending()?.observedGeneration === 3 && isRunning());
      expectOld();

      const before = await daemon.processOf(NAME);
      killProcess(before.pid, 'SIGKILL');
      await eventually(
        'the container runs again',
        () => (shown().status?.containerStatuses?.[0]?.restartCount ?? 0) > 0 && isRunning(),
      );
      expectOld();
      const { id } = await daemon.reached('sized', 'CONTAINER_RUNNING', { attempt: 1 });
      const { status } = await daemon.ask((runtime) => runtime.containerStatus({ containerId: id }));
      expect(status?.resources?.linux?.memoryLimitInBytes).toBe(BigInt(35 * MIB));

      api.server.do(resize('35Mi'));
      await eventually('the condition goes once the resize is undone', () => pending() === undefined);
      api.server.do({ method: 'DELETE', path: POD });
      await eventually('the pod is gone', () => api.server.get(POD) === undefined);
    } finally {
      await daemon.kill('SIGKILL');
      api.close();
      await stage.dispose();
    }
  });
});

const MERGE = 'application/merge-patch+json';
const robot = { metadata: { name: 'robot' } };

const resize = (memory: string) => ({
  method: 'PATCH' as const,
  path: `${POD}/resize`,
  contentType: 'application/strategic-merge-patch+json',
  body: { spec: { containers: [{ name: 'main', resources: { requests: { memory }, limits: { memory } } }] } },
});

const resizeEvents = ({ server }: ApiOverHttp): readonly unknown[] =>
  (server.list(eventsPath('default')) as unknown as readonly { readonly reason: string }[])
    .map(({ reason }) => reason)
    .filter((reason) => reason.startsWith('Resize'));
