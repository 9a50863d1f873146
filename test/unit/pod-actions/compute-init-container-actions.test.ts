import { describe, expect, it } from 'vitest';
import {
  computeInitContainerActions,
  surplusInitContainers,
} from '../../../src/model/pod-actions/compute-init-container-actions.js';
import type { Container } from '../../../src/model/pod/pod.js';
import type { ProbeResults, ProbeVerdict } from '../../../src/model/pod-actions/pod-actions.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import { aContainer, aPod, aRuntimePod, aStatus, exited } from '../pods.js';

const probe = { exec: { command: ['true'] } };
const sidecar = (name: string, fields: Partial<Container> = {}) =>
  aContainer(name, { restartPolicy: 'Always', ...fields });
const results = (startup: ProbeVerdict | undefined, liveness?: ProbeVerdict): ProbeResults => ({
  startup: () => startup,
  liveness: () => liveness,
});
interface Outcome {
  initialized: boolean;
  killPod?: true;
  start?: string[];
  kill?: string[];
}
const outcome = (input: Parameters<typeof computeInitContainerActions>[0]): Outcome => {
  const { initialized, killPod, start, kill } = computeInitContainerActions(input);
  return {
    initialized,
    ...(killPod && { killPod }),
    ...(start.length > 0 && { start: [...start] }),
    ...(kill.length > 0 && { kill: kill.map(({ name, reason, message }) => `${name} ${reason}: ${message}`) }),
  };
};
const unknownKill = (name: string) =>
  `${name} Unknown: Init container is in "unknown" state, try killing it before restart`;

describe('init containers that are not sidecars: a, then b, then c', () => {
  it.each<[row: string, policy: string, containers: RuntimeContainerStatus[], expected: Outcome]>([
    ['nothing has run', 'Always', [], { initialized: false, start: ['a'] }],
    ['a created', 'Always', [aStatus('a', { state: 'created' })], { initialized: false, start: ['a'] }],
    ['a running', 'Always', [aStatus('a')], { initialized: false }],
    ['a done', 'Always', [exited('a', 0)], { initialized: false, start: ['b'] }],
    ['b done', 'Always', [exited('b', 0), exited('a', 0)], { initialized: false, start: ['c'] }],
    ['b done, a no longer there', 'Always', [exited('b', 0)], { initialized: false, start: ['c'] }],
    ['b done, a failed before', 'Always', [exited('b', 0), exited('a', 1)], { initialized: false, start: ['c'] }],
    ['b running', 'Never', [aStatus('b'), exited('a', 0)], { initialized: false }],
    ['c done', 'Never', [exited('c', 0), exited('b', 0), exited('a', 0)], { initialized: true }],
    ['b failed, Always', 'Always', [exited('b', 1), exited('a', 0)], { initialized: false, start: ['b'] }],
    ['b failed, OnFailure', 'OnFailure', [exited('b', 1), exited('a', 0)], { initialized: false, start: ['b'] }],
    ['b failed, Never', 'Never', [exited('b', 1), exited('a', 0)], { initialized: false, killPod: true }],
    [
      'a killed for memory, though with exit code 0, Always',
      'Always',
      [exited('a', 0, { reason: 'OOMKilled' })],
      { initialized: false, start: ['a'] },
    ],
    [
      'a killed for memory, though with exit code 0, Never',
      'Never',
      [exited('a', 0, { reason: 'OOMKilled' })],
      { initialized: false, killPod: true },
    ],
    [
      'a unknown, OnFailure',
      'OnFailure',
      [aStatus('a', { state: 'unknown' })],
      { initialized: false, start: ['a'], kill: [unknownKill('a')] },
    ],
    ['a unknown, Never', 'Never', [aStatus('a', { state: 'unknown' })], { initialized: false, killPod: true }],
    ['a regular container runs, nothing else is known', 'Always', [aStatus('web')], { initialized: true }],
    [
      'a regular container was created, though a failed since',
      'Never',
      [aStatus('web', { state: 'created' }), exited('a', 1)],
      { initialized: true },
    ],
    [
      'a done, web created in an earlier sandbox',
      'Always',
      [exited('a', 0), aStatus('web', { state: 'created', sandboxId: 'earlier' })],
      { initialized: false, start: ['b'] },
    ],
    [
      'a done, web runs in an earlier sandbox',
      'Always',
      [exited('a', 0), aStatus('web', { sandboxId: 'earlier' })],
      { initialized: false, start: ['b'] },
    ],
    [
      'a regular container has exited, as after a reboot',
      'Always',
      [exited('web', 0)],
      { initialized: false, start: ['a'] },
    ],
  ])('%s (%s)', (_, restartPolicy, containers, expected) => {
    const pod = aPod({ restartPolicy, initContainers: [aContainer('a'), aContainer('b'), aContainer('c')] });
    expect(outcome({ pod, status: aRuntimePod(containers) })).toEqual(expected);
  });

  it('lets a policy of its own restart one in a Never pod', () => {
    const pod = aPod({ restartPolicy: 'Never', initContainers: [aContainer('a', { restartPolicy: 'OnFailure' })] });
    expect(outcome({ pod, status: aRuntimePod([exited('a', 1)]) })).toEqual({ initialized: false, start: ['a'] });
  });

  it('does not restart one in a pod that is being deleted', () => {
    const pod = aPod({ initContainers: [aContainer('a')] }, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(outcome({ pod, status: aRuntimePod([exited('a', 1)]) })).toEqual({ initialized: false, killPod: true });
  });
});

it('is initialized without init containers', () => {
  expect(outcome({ pod: aPod(), status: aRuntimePod() })).toEqual({ initialized: true });
});

describe('a, then sidecar s, then b', () => {
  it.each<[row: string, s: Partial<Container>, ProbeResults | undefined, RuntimeContainerStatus[], Outcome]>([
    ['a done', {}, undefined, [exited('a', 0)], { initialized: false, start: ['s'] }],
    ['s created', {}, undefined, [aStatus('s', { state: 'created' })], { initialized: false, start: ['s'] }],
    ['s runs', {}, undefined, [aStatus('s'), exited('a', 0)], { initialized: false, start: ['b'] }],
    ['s exited 0 before b', {}, undefined, [exited('s', 0)], { initialized: false, start: ['s'] }],
    ['s exited 1 before b', {}, undefined, [exited('s', 1)], { initialized: false, start: ['s'] }],
    [
      's unknown',
      {},
      undefined,
      [aStatus('s', { state: 'unknown' })],
      { initialized: false, start: ['s'], kill: [unknownKill('s')] },
    ],
    ['s exited while b runs', {}, undefined, [aStatus('b'), exited('s', 1)], { initialized: false, start: ['s'] }],
    ['s exited, b done', {}, undefined, [exited('b', 0), exited('s', 1)], { initialized: true, start: ['s'] }],
    ['s is gone, b runs', {}, undefined, [aStatus('b')], { initialized: false, start: ['s'] }],
    ['s is gone, web runs', {}, undefined, [aStatus('web')], { initialized: true, start: ['s'] }],
    ['s runs, b done', {}, undefined, [exited('b', 0), aStatus('s')], { initialized: true }],
    [
      's waits for its startup probe',
      { startupProbe: probe },
      results(undefined),
      [aStatus('s')],
      { initialized: false },
    ],
    [
      's has a startup probe but nothing probes',
      { startupProbe: probe },
      undefined,
      [aStatus('s')],
      { initialized: false, start: ['b'] },
    ],
    [
      's passed its startup probe',
      { startupProbe: probe },
      results('success'),
      [aStatus('s')],
      { initialized: false, start: ['b'] },
    ],
    [
      's failed its startup probe',
      { startupProbe: probe },
      results('failure'),
      [aStatus('s')],
      { initialized: false, start: ['s'], kill: ['s StartupProbe: Init container s failed startup probe'] },
    ],
    [
      's changed: it is replaced and b goes on',
      {},
      undefined,
      [aStatus('s', { hash: 'abc' })],
      {
        initialized: false,
        start: ['s', 'b'],
        kill: ['s DefinitionChanged: Init container s definition changed'],
      },
    ],
    [
      's changed while b runs',
      {},
      undefined,
      [aStatus('b'), aStatus('s', { hash: 'abc' })],
      { initialized: false, start: ['s'], kill: ['s DefinitionChanged: Init container s definition changed'] },
    ],
    [
      's failed its liveness probe',
      { livenessProbe: probe },
      results(undefined, 'failure'),
      [aStatus('web'), aStatus('s')],
      { initialized: true, start: ['s'], kill: ['s LivenessProbe: Init container s failed liveness probe'] },
    ],
    [
      's has no result of its liveness probe yet',
      { livenessProbe: probe },
      results(undefined),
      [aStatus('web'), aStatus('s')],
      { initialized: true },
    ],
  ])('%s', (_, s, probeResults, containers, expected) => {
    const pod = aPod({ restartPolicy: 'Never', initContainers: [aContainer('a'), sidecar('s', s), aContainer('b')] });
    expect(outcome({ pod, status: aRuntimePod(containers), probeResults })).toEqual(expected);
  });
});

describe('sidecars s and t alone', () => {
  const pod = aPod({ initContainers: [sidecar('s'), sidecar('t')] });

  it.each<[row: string, containers: RuntimeContainerStatus[], expected: Outcome]>([
    ['nothing has run', [], { initialized: false, start: ['s'] }],
    ['s runs', [aStatus('s')], { initialized: false, start: ['t'] }],
    ['both run', [aStatus('t'), aStatus('s')], { initialized: true }],
    ['both have exited', [exited('t', 0), exited('s', 0)], { initialized: false, start: ['s', 't'] }],
    ['both are gone while web runs', [aStatus('web')], { initialized: true, start: ['s', 't'] }],
  ])('%s', (_, containers, expected) => {
    expect(outcome({ pod, status: aRuntimePod(containers) })).toEqual(expected);
  });
});

describe('the instances of init containers to remove', () => {
  const pod = aPod({ initContainers: [aContainer('i'), sidecar('s')] });
  const containers = [
    aStatus('s', { id: 's2' }),
    exited('i', 0, { id: 'i3' }),
    exited('web', 0, { id: 'w1' }),
    aStatus('i', { id: 'i2', state: 'unknown' }),
    exited('s', 1, { id: 's1' }),
    aStatus('i', { id: 'i1', state: 'created' }),
    exited('i', 1, { id: 'i0' }),
    exited('s', 1, { id: 's0' }),
  ];

  it.each([
    { case: 'are all of them in any state', which: 'all' as const, ids: ['s2', 'i3', 'i2', 's1', 'i1', 'i0', 's0'] },
    {
      case: 'are the ended ones except the newest of each name; an unknown state counts as ended',
      ...{ which: 'all-but-newest' as const, ids: ['i2', 'i0', 's0'] },
    },
  ])('the instances to remove $case', ({ which, ids }) => {
    expect(surplusInitContainers(pod, containers, which).map(({ id }) => id)).toEqual(ids);
  });

  it('no instance is removed of a pod without init containers', () => {
    expect(surplusInitContainers(aPod(), containers, 'all')).toEqual([]);
  });
});
