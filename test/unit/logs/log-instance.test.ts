import { describe, expect, it } from 'vitest';
import type { ContainerStatus } from '../../../src/model/pod/pod.js';
import { logInstance } from '../../../src/model/logs/log-instance.js';

const ended = (id?: string) => ({ terminated: { exitCode: 0, ...(id !== undefined && { containerID: id }) } });
const status = (fields: Partial<ContainerStatus>): ContainerStatus => ({
  ...{ name: 'c', image: '', imageID: '', ready: false, restartCount: 0 },
  ...fields,
});

const running = status({
  state: { running: {} },
  containerID: 'containerd://now',
  lastState: ended('containerd://old'),
});
const waiting = (reason?: string, lastState?: ContainerStatus['lastState']) =>
  status({ state: { waiting: reason === undefined ? {} : { reason } }, ...(lastState && { lastState }) });

describe('the log of a container', () => {
  const where = 'container "c" in pod "p"';

  it.each<[string, ContainerStatus, { previous?: boolean; id?: string; problem?: string }]>([
    ['that runs', running, { id: 'containerd://now' }],
    ['that runs, before', running, { previous: true, id: 'containerd://old' }],
    ['that has ended', status({ state: ended('rx://end'), lastState: ended('rx://old') }), { id: 'rx://end' }],
    ['that has ended without an id', status({ state: ended(), lastState: ended('rx://old') }), { id: 'rx://old' }],
    ['that has ended with nothing known', status({ state: ended() }), { problem: `${where} is terminated` }],
    ['that waits for its back-off', waiting('CrashLoopBackOff', ended('rx://old')), { id: 'rx://old' }],
    [
      'that waits for its back-off, before',
      waiting('CrashLoopBackOff', ended('rx://old')),
      { previous: true, id: 'rx://old' },
    ],
    [
      'that was never started again',
      status({ state: { running: {} }, containerID: 'rx://now' }),
      { previous: true, problem: `previous terminated ${where} not found` },
    ],
    [
      'whose image is missing',
      waiting('ErrImagePull'),
      { problem: `${where} is waiting to start: image can't be pulled` },
    ],
    [
      'whose image is missing for long',
      waiting('ImagePullBackOff'),
      { problem: `${where} is waiting to start: trying and failing to pull image` },
    ],
    [
      'that is about to start',
      waiting('ContainerCreating'),
      { problem: `${where} is waiting to start: ContainerCreating` },
    ],
    ['without a state', status({}), { problem: `${where} is waiting to start - no logs yet` }],
  ])('%s', (_, one, { previous = false, id, problem }) => {
    const expected = id === undefined ? { problem } : { containerId: id.replace(/^.*:\/\//, ''), reference: id };
    expect(logInstance('p', { containerStatuses: [one] }, 'c', previous)).toEqual(expected);
  });

  it.each(['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'])('is found in %s', (list) => {
    expect(logInstance('p', { [list]: [running] }, 'c', false)).toEqual({
      containerId: 'now',
      reference: 'containerd://now',
    });
  });

  it.each([undefined, {}, { containerStatuses: [running] }])('is not available with the status %j', (one) => {
    const problem = 'container "other" in pod "p" is not available';
    expect(logInstance('p', one, 'other', false)).toEqual({ problem });
  });
});
