import { describe, expect, it } from 'vitest';
import { computePodActions } from '../../../src/model/pod-actions/compute-pod-actions.js';
import { neverStarted, withLostStarts } from '../../../src/model/pod-actions/with-lost-starts.js';
import { generatePodStatus } from '../../../src/model/pod-status/generate-pod-status.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import { aContainer, aPod, aRuntimePod, aSandbox, aStatus } from '../pods.js';

const gone = aSandbox({
  ...{ state: 'SANDBOX_NOTREADY' },
  metadata: { name: 'p', namespace: 'default', uid: 'uid-1', attempt: 0 },
});
const unstarted = { state: 'created', startedAt: 0n, finishedAt: 0n } as const;
const statusOf = (pod: ReturnType<typeof aPod>, runtime: ReturnType<typeof aRuntimePod>) =>
  generatePodStatus({
    ...{ pod, runtime, previous: undefined, podIsTerminal: false, now: Date.parse('2026-01-01T01:00:00Z') },
    ...{ runtimeName: 'containerd', hostIps: ['192.0.2.1'] },
  });

/** The mark of a start in the boot `old`; the present one is `new`. */
const begun = (containerId: string, ...boots: readonly string[]) => [{ containerId, boots }];

describe('a container whose start a former boot has marked', () => {
  const pod = aPod({ restartPolicy: 'Never', containers: [aContainer('a')] });

  it('has ended, without an exit code of its own, and does not run again', () => {
    const lost = aRuntimePod([aStatus('a', { id: 'a1', ...unstarted })], [gone]);
    const seen = withLostStarts(lost, begun('a1', 'old'), 'new');
    expect(computePodActions({ pod, status: lost })).toMatchObject({ createSandbox: true, containersToStart: ['a'] });
    expect(computePodActions({ pod, status: seen })).toMatchObject({ createSandbox: false, containersToStart: [] });
    const { phase, containerStatuses } = statusOf(pod, seen);
    expect(phase).toBe('Failed');
    expect(containerStatuses?.[0]?.state).toEqual({
      terminated: {
        containerID: 'containerd://a1',
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message: 'The machine was off before the runtime had stored that the container was started',
      },
    });
  });

  it('fails its pod if it is an init container', () => {
    const withInit = aPod({ restartPolicy: 'Never', initContainers: [aContainer('i')], containers: [aContainer('a')] });
    const seen = withLostStarts(
      aRuntimePod([aStatus('i', { id: 'i1', ...unstarted })], [gone]),
      begun('i1', 'old'),
      'new',
    );
    expect(computePodActions({ pod: withInit, status: seen })).toMatchObject({
      createSandbox: false,
      initContainersToStart: [],
    });
    expect(statusOf(withInit, seen).phase).toBe('Failed');
  });

  it.each<[string, Partial<RuntimeContainerStatus>]>([
    ['running', { state: 'running' }],
    ['exited', { state: 'exited', exitCode: 3 }],
    ['unknown', { state: 'unknown' }],
  ])('is what the runtime says if that is more: %s', (_, more) => {
    const shown = aRuntimePod([aStatus('a', { id: 'a1', ...more })]);
    expect(withLostStarts(shown, begun('a1', 'old'), 'new')).toEqual(shown);
  });

  it('is that instance alone', () => {
    const shown = aRuntimePod([aStatus('a', { id: 'a2', ...unstarted })]);
    expect(withLostStarts(shown, begun('a1', 'old'), 'new')).toEqual(shown);
  });
});

it.each([
  { case: 'a container without a mark has not been started', boots: [], state: 'created' },
  { case: 'a container that was marked in this boot has not been started', boots: ['new'], state: 'created' },
  { case: 'a container that was marked in a former boot has ended', boots: ['old'], state: 'exited' },
  { case: 'a container that was marked in both boots has ended', boots: ['new', 'old'], state: 'exited' },
])('$case', ({ boots, state }) => {
  const shown = aRuntimePod([aStatus('a', { id: 'a1', ...unstarted })]);
  expect(withLostStarts(shown, begun('a1', ...boots), 'new').containers.map((one) => one.state)).toEqual([state]);
});

it('the runtime may not have started the containers that it shows as created', () => {
  const states = ['created', 'running', 'exited', 'unknown', 'created'] as const;
  const shown = aRuntimePod(states.map((state, index) => aStatus('a', { id: `a${index}`, state })));
  expect(neverStarted(shown).map(({ id }) => id)).toEqual(['a0', 'a4']);
});
