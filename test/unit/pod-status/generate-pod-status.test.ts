import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../../src/model/pod/pod.js';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { PodStatusInput } from '../../../src/model/pod-status/generate-pod-status.js';
import { aContainer, aPod, aRuntimePod, aStatus, exited } from '../pods.js';
import { generate, now } from './generate.js';

const condition = (status: PodStatus, type: string) => status.conditions?.find((each) => each.type === type);

it('describes a pod that runs', () => {
  const status = generate({ pod: aPod({}, { generation: 4 }) });
  expect(status).toMatchObject({
    observedGeneration: 4,
    phase: 'Running',
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }],
    startTime: '2026-01-01T00:00:10Z',
    qosClass: 'BestEffort',
    containerStatuses: [{ name: 'web', ready: true, started: true }],
  });
  expect(status.conditions).toEqual(
    ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:10Z',
      observedGeneration: 4,
    })),
  );
  expect(status).not.toHaveProperty('initContainerStatuses');
  expect(status).not.toHaveProperty('reason');
});

it('says the same again when nothing has changed', () => {
  const previous = generate();
  expect(generate({ previous, now: now + 60_000 })).toEqual(previous);
});

describe('times', () => {
  it('keeps the start time, and the time of a condition while its status stays', () => {
    const previous = generate({ isReady: () => false });
    const status = generate({ previous, now: now + 5_000 });
    expect(status.startTime).toBe('2026-01-01T00:00:10Z');
    expect(condition(status, 'PodScheduled')?.lastTransitionTime).toBe('2026-01-01T00:00:10Z');
    expect(condition(status, 'Ready')).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:15Z' });
  });

  it('takes the start time of the source after a restart of the agent', () => {
    const pod = { ...aPod(), status: { startTime: '2025-12-31T00:00:00Z' } };
    expect(generate({ pod }).startTime).toBe('2025-12-31T00:00:00Z');
  });

  it('takes times of a static pod from its mirror after a restart of the agent, and from what it said itself before that', () => {
    const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: '2025-12-31T00:00:01Z' };
    const ready = { type: 'Ready', status: 'False', lastTransitionTime: '2025-12-31T00:00:01Z' };
    const reported = { startTime: '2025-12-31T00:00:00Z', conditions: [scheduled, ready] };
    const status = generate({ reported });
    expect(status.startTime).toBe('2025-12-31T00:00:00Z');
    expect(condition(status, 'PodScheduled')?.lastTransitionTime).toBe('2025-12-31T00:00:01Z');
    expect(condition(status, 'Ready')?.lastTransitionTime).toBe('2026-01-01T00:00:10Z');
    expect(generate({ reported, previous: generate() }).startTime).toBe('2026-01-01T00:00:10Z');
  });

  it('never lowers the observed generation', () => {
    expect(generate({ pod: aPod({}, { generation: 2 }), previous: { observedGeneration: 3 } }).observedGeneration).toBe(
      3,
    );
  });
});

describe('probes', () => {
  it.each([
    ['no probes', undefined, undefined, true, true],
    ['not started yet: not ready either', false, true, false, false],
    ['started, not ready', true, false, true, false],
    ['started and ready', true, true, true, true],
  ])('%s', (_, hasStarted, isReady, started, ready) => {
    const status = generate({ hasStarted: () => hasStarted, isReady: () => isReady });
    expect(status.containerStatuses?.[0]).toMatchObject({ started, ready });
  });

  it('are asked by the id that the runtime uses', () => {
    expect(generate({ isReady: (id) => id !== 'web-0' }).containerStatuses?.[0]?.ready).toBe(false);
  });

  it('say nothing of a container that does not run', () => {
    const runtime = aRuntimePod([exited('web', 0)]);
    expect(generate({ runtime, isReady: () => true }).containerStatuses?.[0]).toMatchObject({
      started: false,
      ready: false,
    });
  });

  it('leave a regular init container ready by its exit code, and a sidecar by its probes', () => {
    const initContainers = [aContainer('i'), aContainer('s', { restartPolicy: 'Always' })];
    const runtime = aRuntimePod([aStatus('web'), aStatus('s'), exited('i', 0)]);
    const { initContainerStatuses } = generate({ pod: aPod({ initContainers }), runtime, isReady: () => false });
    expect(initContainerStatuses).toMatchObject([
      { name: 'i', ready: true, started: false },
      { name: 's', ready: false, started: true },
    ]);
  });
});

it('an init container that had completed and cannot be started again is not ready', () => {
  const pod = aPod({ restartPolicy: 'OnFailure', initContainers: [aContainer('i')] });
  const previous = generate({ pod, runtime: aRuntimePod([exited('i', 0)]) });
  expect(previous.initContainerStatuses?.[0]?.ready).toBe(true);
  const startFailure = () => ({ reason: 'ErrImagePull', message: 'no' });
  const status = generate({ pod, previous, runtime: aRuntimePod([]), startFailure });
  expect(status.initContainerStatuses?.[0]).toMatchObject({
    ready: false,
    state: { waiting: { reason: 'ErrImagePull' } },
  });
});

describe('phase', () => {
  const runsStill = aRuntimePod([aStatus('web')]);

  it.each<[row: string, fields: Partial<PodStatusInput>, expected: Partial<PodStatus>]>([
    [
      'this agent said that it failed: so it stays, with its reason',
      { previous: { phase: 'Failed', reason: 'Evicted', message: 'm' } },
      { phase: 'Failed', reason: 'Evicted', message: 'm' },
    ],
    [
      'the API says that it failed',
      { pod: { ...aPod(), status: { phase: 'Failed', reason: 'NodeLost' } } },
      { phase: 'Failed', reason: 'NodeLost' },
    ],
    [
      'the API says that it succeeded, this agent that it failed',
      { pod: { ...aPod(), status: { phase: 'Succeeded' } }, previous: { phase: 'Failed' } },
      { phase: 'Succeeded' },
    ],
    [
      'the reason goes with the phase',
      { previous: { phase: 'Pending', reason: 'R', message: 'm' } },
      { phase: 'Running', reason: undefined, message: undefined },
    ],
    [
      'the reason stays with the phase, from the source if need be',
      { previous: { phase: 'Running' }, pod: { ...aPod(), status: { phase: 'Running', reason: 'R' } } },
      { phase: 'Running', reason: 'R' },
    ],
    [
      'past its deadline',
      { pod: aPod({ activeDeadlineSeconds: 5 }), activeMs: 5_000, previous: { phase: 'Running' } },
      {
        phase: 'Failed',
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
      },
    ],
    [
      'past its deadline, all ended by themselves in the same pass',
      {
        pod: aPod({ activeDeadlineSeconds: 5, restartPolicy: 'Never' }),
        activeMs: 5_000,
        previous: { phase: 'Running' },
        runtime: aRuntimePod([exited('web', 0)]),
      },
      {
        phase: 'Failed',
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
      },
    ],
    [
      'past its deadline, which had ended before',
      {
        pod: aPod({ activeDeadlineSeconds: 5, restartPolicy: 'Never' }),
        activeMs: 5_000,
        previous: { phase: 'Succeeded' },
        runtime: aRuntimePod([exited('web', 0)]),
      },
      { phase: 'Succeeded', reason: undefined },
    ],
    [
      'before its deadline',
      { pod: aPod({ activeDeadlineSeconds: 6 }), activeMs: 5_000, previous: { phase: 'Running' } },
      { phase: 'Running' },
    ],
    [
      'an Always pod that was ended',
      { runtime: aRuntimePod([exited('web', 137)]), podIsTerminal: true },
      { phase: 'Failed' },
    ],
  ])('%s', (_, fields, expected) => {
    const status = generate({ runtime: runsStill, ...fields });
    expect({ phase: status.phase, reason: status.reason, message: status.message }).toMatchObject(expected);
  });

  it('stays failed after the deadline', () => {
    const pod = aPod({ activeDeadlineSeconds: 5 });
    const previous = generate({ pod, activeMs: 5_000, previous: { phase: 'Running' } });
    const verdict = { phase: 'Failed', reason: 'DeadlineExceeded' };
    expect(generate({ pod, previous })).toMatchObject(verdict);
    // Not even when what was stopped for it ends well, not even on request.
    const once = aPod({ activeDeadlineSeconds: 5, restartPolicy: 'OnFailure' });
    for (const podIsTerminal of [false, true]) {
      const ended = generate({ pod: once, previous, runtime: aRuntimePod([exited('web', 0)]), podIsTerminal });
      expect(ended).toMatchObject(verdict);
    }
  });
});

describe('a restart of all containers', () => {
  const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } }];
  const pod = aPod(
    {
      restartPolicy: 'Never',
      containers: [aContainer('web', { restartPolicy: 'Never', restartPolicyRules }), aContainer('other')],
    },
    { generation: 2 },
  );
  const asked = aRuntimePod([exited('web', 1), aStatus('other')]);
  const isOn = (status: PodStatus) => condition(status, 'AllContainersRestarting')?.status;
  const story = (runtimes: readonly RuntimePodStatus[], of = pod): readonly PodStatus[] => {
    let previous: PodStatus | undefined;
    return runtimes.map((runtime) => (previous = generate({ pod: of, runtime, previous })));
  };

  it('does not follow from how the agent ended an earlier instance', () => {
    const restarted = aRuntimePod([aStatus('web', { id: 'web-1' }), aStatus('other'), exited('web', 137)]);
    expect(story([aRuntimePod([aStatus('web'), aStatus('other')]), restarted]).map(isOn)).toEqual(['False', 'False']);
  });

  it('goes on until nothing is left, in any state of the container that asked for it', () => {
    const rest = aRuntimePod([aStatus('other')]);
    const anew = aRuntimePod([aStatus('web', { id: 'web-1' }), aStatus('other', { id: 'other-1' })]);
    const statuses = story([asked, rest, aRuntimePod(), anew]);
    expect(statuses.map(isOn)).toEqual(['True', 'True', 'False', 'False']);
    expect(statuses.map(({ phase }) => phase)).toEqual(['Running', 'Running', 'Running', 'Running']);
  });

  it('goes on in an agent that was restarted, by what the API says', () => {
    const told = { ...pod, status: { conditions: [{ type: 'AllContainersRestarting', status: 'True' }] } };
    expect(isOn(generate({ pod: told, runtime: aRuntimePod([aStatus('other')]) }))).toBe('True');
  });

  it('is still to be seen in a pod that is being deleted', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const deleted = { ...pod, metadata: { ...pod.metadata, deletionTimestamp } };
    expect(story([asked], deleted).map(isOn)).toEqual(['True']);
  });

  it('does not end a pod of which the runtime has lost sight of a container', () => {
    const lost = aRuntimePod([exited('web', 1), aStatus('other', { state: 'unknown' })]);
    const [, status] = story([asked, lost]);
    expect(status?.phase).toBe('Running');
    expect(status?.containerStatuses?.[0]?.state?.terminated?.reason).toBe('RestartingAllContainers');
  });

  it('has a condition that names no generation', () => {
    const [status] = story([asked]);
    expect(condition(status!, 'AllContainersRestarting')).not.toHaveProperty('observedGeneration');
    expect(condition(status!, 'Ready')).toHaveProperty('observedGeneration', 2);
  });
});

describe('conditions of others', () => {
  const conditions = [
    { type: 'a/x', status: 'True' },
    { type: 'Ready', status: 'False', reason: 'Stale' },
    { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' },
  ];

  it("are kept, the agent's own are made again", () => {
    const pod = { ...aPod(), status: { conditions } };
    const status = generate({ pod });
    expect(status.conditions?.map(({ type }) => type).slice(0, 2)).toEqual(['a/x', 'DisruptionTarget']);
    expect(status.conditions?.filter(({ type }) => type === 'Ready')).toMatchObject([{ status: 'True' }]);
  });

  it('open readiness gates', () => {
    const spec = { readinessGates: [{ conditionType: 'a/x' }] };
    expect(condition(generate({ pod: aPod(spec) }), 'Ready')?.status).toBe('False');
    expect(condition(generate({ pod: { ...aPod(spec), status: { conditions } } }), 'Ready')?.status).toBe('True');
  });
});

it('shares the room for termination messages among all containers', () => {
  const pod = aPod({ containers: [aContainer('web'), aContainer('b')], initContainers: [aContainer('i')] });
  const runtime = aRuntimePod([exited('web', 1, { message: 'é'.repeat(5000) }), exited('b', 1, { message: 'short' })]);
  const [b, web] = generate({ pod, runtime }).containerStatuses ?? [];
  expect(b?.state?.terminated?.message).toBe('short');
  expect(web?.state?.terminated?.message).toBe('é'.repeat(2048));
  // 4096 bytes end within a character, which is left out.
  const cut = aRuntimePod([exited('web', 1, { message: '€'.repeat(5000) })]);
  const shown = generate({ pod, runtime: cut }).containerStatuses?.find(({ name }) => name === 'web');
  expect(shown?.state?.terminated?.message).toBe('€'.repeat(1365));
});

it('has a network as soon as a sandbox was made, with any earlier status of the runtime', () => {
  const runtime = aRuntimePod([], []);
  expect(condition(generate({ runtime }), 'PodReadyToStartContainers')?.status).toBe('False');
  expect(condition(generate({ runtime, hasNewSandbox: true }), 'PodReadyToStartContainers')?.status).toBe('True');
});

it('keeps what has disrupted the pod, by its own word or by that of others', () => {
  const disruption = (reason: string) => ({ type: 'DisruptionTarget', status: 'True', reason });
  const pod = { ...aPod(), status: { conditions: [disruption('theirs')] } };
  expect(condition(generate({ pod, previous: {} }), 'DisruptionTarget')).toEqual(disruption('theirs'));
  const previous = { conditions: [disruption('ours')] };
  const all = generate({ pod, previous }).conditions?.filter(({ type }) => type === 'DisruptionTarget');
  expect(all).toEqual([disruption('ours')]);
});

it('says nothing more of a pod that was rejected, also after a restart of the agent', () => {
  const rejected = { phase: 'Failed', reason: 'OutOfcpu', message: 'Pod was rejected: no room' };
  const runtime = aRuntimePod([], []);
  expect(generate({ pod: { ...aPod(), status: rejected }, runtime, podIsTerminal: true })).toEqual(rejected);
  expect(generate({ previous: rejected, runtime })).toEqual(rejected);
  expect(generate({ previous: rejected }).containerStatuses).toHaveLength(1);
});
