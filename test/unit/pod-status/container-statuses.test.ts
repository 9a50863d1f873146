import { NOT_RESIZED } from '../../../src/model/resize/actuated.js';
import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Pod, PodSpec } from '../../../src/model/pod/pod.js';
import { containerStatuses, type ContainerStatusesInput } from '../../../src/model/pod-status/container-statuses.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import { aContainer, aPod, aRuntimePod, aStatus, exited } from '../pods.js';

const input = (
  pod: Pod,
  containers: readonly RuntimeContainerStatus[],
  fields: Partial<ContainerStatusesInput> = {},
): ContainerStatusesInput => ({
  pod,
  runtime: aRuntimePod(containers),
  previous: [],
  runtimeName: 'containerd',
  startFailure: () => undefined,
  isRestartingAll: false,
  actuated: NOT_RESIZED,
  ...fields,
});
const old = (fields: Partial<ContainerStatus>): ContainerStatus => ({
  name: 'web',
  image: 'web:1',
  imageID: '',
  ready: false,
  restartCount: 3,
  ...fields,
});
/** The status of `web`, the pod's only container. */
const web = (
  containers: readonly RuntimeContainerStatus[],
  fields: Partial<ContainerStatusesInput> = {},
  pod = aPod(),
) => containerStatuses('regular', input(pod, containers, fields))[0]!;

const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const unknownAtDeletion = {
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was deleted.  The container used to be Running',
  exitCode: 137,
};

describe('a container without any instance', () => {
  it.each<[row: string, previous: ContainerStatus[], spec: Partial<PodSpec>, metadata: object, expected: object]>([
    ['new', [], {}, {}, { restartCount: 0, state: { waiting: { reason: 'ContainerCreating' } } }],
    [
      'new, in a pod with init containers',
      [],
      { initContainers: [aContainer('i')] },
      {},
      { state: { waiting: { reason: 'PodInitializing' } } },
    ],
    [
      'was waiting',
      [old({ state: { waiting: { reason: 'ErrImagePull' } }, lastState: { terminated: { exitCode: 1 } } })],
      {},
      {},
      {
        restartCount: 3,
        state: { waiting: { reason: 'ContainerCreating' } },
        lastState: { terminated: { exitCode: 1 } },
      },
    ],
    [
      'had ended',
      [old({ state: { terminated: { exitCode: 5 } }, containerID: 'containerd://x' })],
      {},
      {},
      { restartCount: 3, state: { terminated: { exitCode: 5 } }, containerID: 'containerd://x' },
    ],
    [
      'was running',
      [old({ state: running, lastState: {} })],
      {},
      {},
      {
        restartCount: 4,
        state: { waiting: { reason: 'ContainerCreating' } },
        lastState: { terminated: unknownAtDeletion },
      },
    ],
    [
      'was running, deleting',
      [old({ state: running, lastState: {} })],
      {},
      deleting,
      { restartCount: 3, lastState: { terminated: unknownAtDeletion } },
    ],
    [
      'was running after it had ended before',
      [old({ state: running, lastState: { terminated: { exitCode: 2 } } })],
      {},
      {},
      { restartCount: 3, lastState: { terminated: { exitCode: 2 } } },
    ],
  ])('%s', (_, previous, spec, metadata, expected) => {
    expect(web([], { previous }, aPod(spec, metadata))).toMatchObject(expected);
  });

  it('was removed by a restart of all containers', () => {
    const why = {
      reason: 'RestartingAllContainers',
      message: 'The container is removed because RestartAllContainers in place',
    };
    expect(web([], { previous: [old({ state: running })], isRestartingAll: true })).toMatchObject({
      restartCount: 4,
      state: { waiting: why },
      lastState: { terminated: { ...why, exitCode: 137 } },
    });
  });

  it('was removed by a restart of all containers after its end, and keeps the ids of it', () => {
    const previous = [
      old({ state: { terminated: { exitCode: 42 } }, containerID: 'containerd://web-3', imageID: 'web@sha256:1' }),
    ];
    expect(web([], { previous, isRestartingAll: true })).toMatchObject({
      restartCount: 4,
      containerID: 'containerd://web-3',
      imageID: 'web@sha256:1',
      state: { waiting: { reason: 'RestartingAllContainers' } },
      lastState: { terminated: { reason: 'RestartingAllContainers', exitCode: 137 } },
    });
  });
});

describe('the newest instance', () => {
  it('running', () => {
    expect(web([aStatus('web', { restartCount: 2, startedAt: 1_767_225_600_500_000_000n })])).toMatchObject({
      name: 'web',
      image: 'web:1',
      imageID: 'web@sha256:1',
      containerID: 'containerd://web-0',
      restartCount: 2,
      state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
      lastState: {},
    });
  });

  it('created', () => {
    expect(web([aStatus('web', { state: 'created' })]).state).toEqual({ waiting: { reason: 'ContainerCreating' } });
  });

  it('exited', () => {
    const status = exited('web', 2, {
      reason: 'Error',
      message: 'final words',
      startedAt: 1n,
      finishedAt: 2_000_000_000n,
    });
    expect(web([status]).state).toEqual({
      terminated: {
        exitCode: 2,
        reason: 'Error',
        message: 'final words',
        startedAt: '1970-01-01T00:00:00Z',
        finishedAt: '1970-01-01T00:00:02Z',
        containerID: 'containerd://web-0',
      },
    });
  });

  it('exited before it had started: no start time', () => {
    expect(web([exited('web', 128, { startedAt: 0n })]).state?.terminated?.startedAt).toBeUndefined();
  });

  it('unknown after running', () => {
    expect(web([aStatus('web', { state: 'unknown' })], { previous: [old({ state: running })] })).toMatchObject({
      restartCount: 4,
      state: {
        terminated: {
          reason: 'ContainerStatusUnknown',
          message: 'The container could not be located when the pod was terminated',
          exitCode: 137,
        },
      },
    });
  });

  it('unknown after running, while all containers restart', () => {
    const fields = { previous: [old({ state: running })], isRestartingAll: true };
    expect(web([aStatus('web', { state: 'unknown' })], fields).state?.terminated).toEqual({
      reason: 'RestartingAllContainers',
      message: 'The container could not be located when the pod was terminated',
      exitCode: 137,
    });
  });

  it('unknown otherwise', () => {
    expect(web([aStatus('web', { state: 'unknown' })]).state).toEqual({ waiting: { reason: 'ContainerCreating' } });
  });

  it('takes the second newest as its last state, and ignores older ones', () => {
    const status = web([
      aStatus('web', { id: 'web-2', restartCount: 2 }),
      exited('web', 7, { id: 'web-1' }),
      exited('web', 6),
    ]);
    expect(status).toMatchObject({ restartCount: 2, lastState: { terminated: { exitCode: 7 } } });
  });

  it('takes what had ended before as its last state when the runtime has forgotten that', () => {
    const previous = [old({ state: { terminated: { exitCode: 5 } }, containerID: 'containerd://web-2' })];
    expect(web([aStatus('web', { id: 'web-3', restartCount: 4 })], { previous })).toMatchObject({
      restartCount: 4,
      lastState: { terminated: { exitCode: 5 } },
    });
  });

  it.each([
    ['never falls', running, 1, 3],
    ['grows with the runtime', running, 5, 5],
    ['grows by one when the runtime has lost count of it', { terminated: { exitCode: 1 } }, 0, 4],
  ])('restart count %s', (_, state, restartCount, expected) => {
    const previous = [old({ state, containerID: 'containerd://before' })];
    expect(web([aStatus('web', { restartCount })], { previous }).restartCount).toBe(expected);
  });
});

describe('a start that was refused', () => {
  const startFailure = () => ({ reason: 'CrashLoopBackOff', message: 'back-off 10s' });
  const refused = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } };
  const never = aPod({ restartPolicy: 'Never' });

  it.each<[row: string, pod: Pod, containers: RuntimeContainerStatus[], isShown: boolean]>([
    ['no instance', aPod(), [], true],
    ['created', aPod(), [aStatus('web', { state: 'created' })], true],
    ['unknown', aPod(), [aStatus('web', { state: 'unknown' })], true],
    ['exited, to be restarted', aPod(), [exited('web', 1)], true],
    ['exited for good', never, [exited('web', 1)], false],
    ['running', aPod(), [aStatus('web')], false],
    ['deleting', aPod({}, deleting), [exited('web', 1)], false],
  ])('%s', (_, pod, containers, isShown) => {
    const { state } = web(containers, { startFailure }, pod);
    if (isShown) expect(state).toEqual(refused);
    else expect(state).not.toEqual(refused);
  });

  it('moves the end before it to the last state', () => {
    expect(web([exited('web', 9)], { startFailure }).lastState?.terminated?.exitCode).toBe(9);
  });
});

describe('init containers', () => {
  const pod = aPod({ initContainers: [aContainer('z'), aContainer('a', { restartPolicy: 'Always' })] });

  it('keep the order of the spec', () => {
    expect(containerStatuses('init', input(pod, [])).map(({ name }) => name)).toEqual(['z', 'a']);
  });

  it('that the runtime has forgotten count as completed once regular ones exist, unless they are sidecars', () => {
    const [z, a] = containerStatuses('init', input(pod, [aStatus('web')]));
    expect(z?.state?.terminated).toMatchObject({ reason: 'Completed', exitCode: 0 });
    expect(a?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
  });

  it('that have completed show no refused start', () => {
    const startFailure = () => ({ reason: 'CrashLoopBackOff', message: '' });
    const [z] = containerStatuses('init', input(pod, [exited('z', 0)], { startFailure }));
    expect(z?.state?.terminated?.exitCode).toBe(0);
  });
});

it('orders regular and ephemeral containers by name', () => {
  const pod = aPod({
    containers: [aContainer('b'), aContainer('a')],
    ephemeralContainers: [aContainer('d'), aContainer('c')],
  });
  expect(containerStatuses('regular', input(pod, [])).map(({ name }) => name)).toEqual(['a', 'b']);
  expect(containerStatuses('ephemeral', input(pod, [])).map(({ name }) => name)).toEqual(['c', 'd']);
});

it('shows the signal that stops a container only with the gate', () => {
  const instance = aStatus('web', { stopSignal: 'SIGRTMIN+3' });
  expect(web([instance], { showsStopSignals: true }).stopSignal).toBe('SIGRTMIN+3');
  expect(web([aStatus('web')], { showsStopSignals: true })).not.toHaveProperty('stopSignal');
  expect(web([instance])).not.toHaveProperty('stopSignal');
});

it('shows the user of a container, where the runtime reports it', () => {
  const user = { uid: 1000, gid: 100, supplementalGroups: [7] };
  expect(web([aStatus('web', { user })]).user).toEqual({ linux: user });
  expect(web([aStatus('web')])).not.toHaveProperty('user');
});

it('lists the mounts of the spec', () => {
  const volumeMounts = [
    { name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'Enabled' },
    { name: 'w', mountPath: '/w' },
  ];
  const [status] = containerStatuses('regular', input(aPod({ containers: [aContainer('web', { volumeMounts })] }), []));
  expect(status?.volumeMounts).toEqual([
    { name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'Enabled' },
    { name: 'w', mountPath: '/w', readOnly: undefined, recursiveReadOnly: undefined },
  ]);
});
