import { expect, it } from 'vitest';
import { callDeadlineMs } from '../../../src/model/cri/call-deadline.js';

const T = 120_000;

it.each([
  { call: 'RunPodSandbox', timeout: undefined, deadline: 2 * T },
  { call: 'StopContainer', timeout: 30n, deadline: T + 30_000 },
  { call: 'StopContainer', timeout: 0n, deadline: T },
  { call: 'StopContainer', timeout: undefined, deadline: T },
  { call: 'StopContainer', timeout: -1n, deadline: T },
  { call: 'ExecSync', timeout: 5n, deadline: T + 5_000 },
  { call: 'CheckpointContainer', timeout: 5n, deadline: T },
  { call: 'CheckpointContainer', timeout: 500n, deadline: 500_000 },
  { call: 'ExecSync', timeout: 0n, deadline: undefined },
  { call: 'ExecSync', timeout: undefined, deadline: undefined },
  { call: 'PullImage', timeout: undefined, deadline: undefined },
  { call: 'GetContainerEvents', timeout: undefined, deadline: undefined },
  ...[
    'Version',
    'Status',
    'RuntimeConfig',
    'StopPodSandbox',
    'RemovePodSandbox',
    'PodSandboxStatus',
    'ListPodSandbox',
    'CreateContainer',
    'StartContainer',
    'RemoveContainer',
    'ListContainers',
    'ContainerStatus',
    'ContainerStats',
    'UpdateContainerResources',
    'ReopenContainerLog',
    'ListImages',
    'ImageStatus',
    'RemoveImage',
    'ImageFsInfo',
  ].map((call) => ({ call, timeout: undefined, deadline: T })),
])('$call with a timeout of $timeout s has $deadline ms', ({ call, timeout, deadline }) => {
  expect(callDeadlineMs(call, { timeout }, T)).toBe(deadline);
});
