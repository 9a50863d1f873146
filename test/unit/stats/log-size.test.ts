import { expect, it } from 'vitest';
import { runningContainers } from '../../../src/model/stats/log-size.js';
import type { ContainerStatus, Pod, PodStatus } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

const status = (name: string, state: ContainerStatus['state']): ContainerStatus =>
  ({ name, state }) as unknown as ContainerStatus;
const runs = (name: string) => status(name, { running: {} });
const withStatus = (pod: Pod, of: Partial<PodStatus>): Pod => ({ ...pod, status: of });

it('logs are measured of the containers of every kind that run by the status, and of none without a status', () => {
  const web = withStatus(aPod(), {
    initContainerStatuses: [runs('sidecar'), status('init', { terminated: { exitCode: 0 } })],
    containerStatuses: [runs('main'), status('waits', { waiting: {} }), status('new', undefined)],
    ephemeralContainerStatuses: [runs('debug')],
  });
  const other = withStatus(aPod({ uid: 'uid-2', name: 'other' }), { containerStatuses: [runs('main')] });
  const pod = { uid: 'uid-1', namespace: 'default', name: 'web' };
  expect(runningContainers([web, aPod({ uid: 'uid-3', name: 'young' }), other])).toEqual([
    { pod, container: 'sidecar' },
    { pod, container: 'main' },
    { pod, container: 'debug' },
    { pod: { uid: 'uid-2', namespace: 'default', name: 'other' }, container: 'main' },
  ]);
});
