import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Pod } from '../../../src/model/pod/pod.js';
import {
  allContainersRestartingCondition,
  containersReadyCondition,
  initializedCondition,
  readyCondition,
  readyToStartContainersCondition,
} from '../../../src/model/pod-status/conditions.js';
import type { PodPhase } from '../../../src/model/pod-status/pod-phase.js';
import { aContainer, aPod, aRuntimePod, aSandbox } from '../pods.js';

const status = (name: string, fields: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: true,
  restartCount: 0,
  ...fields,
});
const sidecar = aContainer('s', { restartPolicy: 'Always' });
const running = { state: { running: {} } };

describe('ContainersReady: sidecar s, regular a and b', () => {
  const pod = aPod({ initContainers: [aContainer('i'), sidecar], containers: [aContainer('a'), aContainer('b')] });
  const all = [status('s'), status('a'), status('b')];

  it.each<[row: string, statuses: ContainerStatus[] | undefined, phase: PodPhase, expected: object]>([
    ['no statuses', undefined, 'Running', { status: 'False', reason: 'UnknownContainerStatuses' }],
    ['all ready; other init containers do not count', all, 'Running', { status: 'True' }],
    [
      'some missing, some not ready',
      [status('s', { ready: false }), status('b', { ready: false })],
      'Pending',
      {
        status: 'False',
        reason: 'ContainersNotReady',
        message: 'containers with unknown status: [a], containers with unready status: [s b]',
      },
    ],
    ['succeeded', all, 'Succeeded', { status: 'False', reason: 'PodCompleted' }],
    [
      'succeeded with one missing',
      [status('s'), status('a')],
      'Succeeded',
      { status: 'False', reason: 'ContainersNotReady', message: 'containers with unknown status: [b]' },
    ],
    ['failed', all, 'Failed', { status: 'False', reason: 'PodFailed' }],
  ])('%s', (_, statuses, phase, expected) => {
    expect(containersReadyCondition(pod, statuses, phase)).toEqual({ type: 'ContainersReady', ...expected });
  });
});

describe('Ready', () => {
  const gated = aPod({ readinessGates: [{ conditionType: 'a/x' }, { conditionType: 'a/y' }] });
  const ready = { type: 'ContainersReady', status: 'True' };
  const unready = { type: 'ContainersReady', status: 'False', reason: 'ContainersNotReady', message: 'm' };

  it.each<
    [row: string, pod: Pod, containers: typeof ready, others: { type: string; status: string }[], expected: object]
  >([
    ['as its containers', aPod(), ready, [], { status: 'True' }],
    ['as its containers are not', gated, unready, [], { status: 'False', reason: 'ContainersNotReady', message: 'm' }],
    [
      'all gates open',
      gated,
      ready,
      [
        { type: 'a/x', status: 'True' },
        { type: 'a/y', status: 'True' },
      ],
      { status: 'True' },
    ],
    [
      'one gate closed, one missing',
      gated,
      ready,
      [{ type: 'a/x', status: 'False' }],
      {
        status: 'False',
        reason: 'ReadinessGatesNotReady',
        message:
          'the status of pod readiness gate "a/x" is not "True", but False, corresponding condition of pod readiness gate "a/y" does not exist.',
      },
    ],
  ])('%s', (_, pod, containersReady, others, expected) => {
    expect(readyCondition(pod, containersReady, others)).toEqual({ type: 'Ready', ...expected });
  });
});

describe('Initialized: i, then sidecar s, then a', () => {
  const pod = aPod({ initContainers: [aContainer('i'), sidecar], containers: [aContainer('a')] });
  const waiting = status('a', { ready: false, state: { waiting: {} } });

  it.each<[row: string, statuses: ContainerStatus[] | undefined, phase: PodPhase, was: boolean, expected: object]>([
    ['no statuses', undefined, 'Pending', false, { status: 'False', reason: 'UnknownContainerStatuses' }],
    [
      'nothing done',
      [status('i', { ready: false }), waiting],
      'Pending',
      false,
      {
        status: 'False',
        reason: 'ContainersNotInitialized',
        message: 'containers with unknown status: [s], containers with incomplete status: [i]',
      },
    ],
    [
      'sidecar not started',
      [status('i'), status('s', { started: false }), waiting],
      'Pending',
      false,
      {
        status: 'False',
        reason: 'ContainersNotInitialized',
        message: 'containers with incomplete status: [s]',
      },
    ],
    ['all done', [status('i'), status('s', { started: true }), waiting], 'Pending', false, { status: 'True' }],
    ['was done before', [status('i', { ready: false }), waiting], 'Pending', true, { status: 'True' }],
    [
      'a regular container runs while the sidecar restarts',
      [status('i'), status('s', { started: false }), status('a', running)],
      'Running',
      false,
      { status: 'True' },
    ],
    [
      'succeeded',
      [status('i'), status('s'), status('a')],
      'Succeeded',
      false,
      { status: 'True', reason: 'PodCompleted' },
    ],
  ])('%s', (_, statuses, phase, was, expected) => {
    expect(initializedCondition(pod, statuses, phase, was)).toEqual({ type: 'Initialized', ...expected });
  });

  it('is true without init containers', () => {
    expect(initializedCondition(aPod(), undefined, 'Pending', false).status).toBe('True');
  });
});

it.each([
  ['a ready sandbox', [aSandbox()], undefined],
  ['none', [], 'no pod sandbox exists'],
  ['two', [aSandbox(), aSandbox({ id: 's2' })], 'more than one pod sandbox is ready'],
  ['one that is not ready', [aSandbox({ state: 'SANDBOX_NOTREADY' })], 'pod sandbox is not ready'],
  ['one without an address', [aSandbox({ network: { ip: '', additionalIps: [] } })], 'pod sandbox has no IP address'],
] as const)('PodReadyToStartContainers with %s: %3$s', (_, sandboxes, problem) => {
  const expected =
    problem === undefined ? { status: 'True' } : { status: 'False', reason: 'PodSandboxNotReady', message: problem };
  expect(readyToStartContainersCondition(aPod(), aRuntimePod([], sandboxes))).toEqual({
    type: 'PodReadyToStartContainers',
    ...expected,
  });
});

describe('AllContainersRestarting', () => {
  const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }];
  const pod = aPod({ containers: [aContainer('a', { restartPolicy: 'Never', restartPolicyRules })] });

  it.each<[row: string, restarting: boolean, phase: PodPhase, expected: object]>([
    [
      'restarting',
      true,
      'Running',
      { status: 'True', reason: 'RestartAllContainersStarted', message: 'container exited with restart policy rule' },
    ],
    ['not', false, 'Running', { status: 'False' }],
    ['succeeded', false, 'Succeeded', { status: 'False', reason: 'PodCompleted' }],
    ['failed', false, 'Failed', { status: 'False', reason: 'PodFailed' }],
  ])('%s', (_, restarting, phase, expected) => {
    expect(allContainersRestartingCondition(pod, restarting, phase)).toEqual({
      type: 'AllContainersRestarting',
      ...expected,
    });
  });

  it('is nothing that other pods have', () => {
    expect(allContainersRestartingCondition(aPod(), false, 'Running')).toBeUndefined();
  });
});
