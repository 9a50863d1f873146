import { describe, expect, it } from 'vitest';
import { computePodActions } from '../../../src/model/pod-actions/compute-pod-actions.js';
import type { PodActions } from '../../../src/model/pod-actions/pod-actions.js';
import { withShownEnds } from '../../../src/model/pod-actions/with-shown-ends.js';
import type { PodStatus } from '../../../src/model/pod/pod.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import { aContainer, aPod, aRuntimePod, aSandbox, aStatus } from '../pods.js';

/** A status in which these containers have ended with these codes. */
const endedWith = (codes: object): PodStatus => ({
  containerStatuses: Object.entries(codes).map(([name, exitCode]) => ({
    ...{ name, image: '', imageID: '', ready: false, restartCount: 0 },
    state: { terminated: { exitCode: exitCode as number } },
  })),
});
/** A status in which this instance of the container `a` has ended. */
const endOf = (id: string, exitCode: number): PodStatus => {
  const containerID = `containerd://${id}`;
  const terminated = { exitCode, containerID };
  return {
    containerStatuses: [
      { ...{ name: 'a', image: '', imageID: '', ready: false, restartCount: 0, containerID }, state: { terminated } },
    ],
  };
};
const summary = ({ killPod, createSandbox, attempt, containersToStart }: PodActions) => ({
  ...(killPod && { killPod }),
  ...(createSandbox && { createSandbox: attempt }),
  ...(containersToStart.length > 0 && { start: containersToStart }),
});
const gone = aSandbox({
  ...{ state: 'SANDBOX_NOTREADY' },
  metadata: { name: 'p', namespace: 'default', uid: 'uid-1', attempt: 0 },
});
const two = [aContainer('a'), aContainer('b')];

describe('a container that the runtime has lost', () => {
  it.each<[policy: string, exitCode: number, expected: object]>([
    ['Never', 0, {}],
    ['Never', 1, {}],
    ['OnFailure', 0, {}],
    ['OnFailure', 1, { start: ['a'] }],
    ['Always', 0, { start: ['a'] }],
  ])('%s, after exit code %i, beside one that runs', (restartPolicy, exitCode, expected) => {
    const pod = aPod({ restartPolicy, containers: two });
    const actions = computePodActions({ pod, status: aRuntimePod([aStatus('b')]), last: endedWith({ a: exitCode }) });
    expect(summary(actions)).toEqual(expected);
  });

  it.each<[policy: string, exitCode: number, state: RuntimeContainerStatus['state'], expected: object]>([
    ['OnFailure', 0, 'created', {}],
    ['OnFailure', 0, 'unknown', {}],
    ['OnFailure', 0, 'exited', {}],
    ['OnFailure', 1, 'created', { start: ['a'] }],
    ['Never', 1, 'created', {}],
    ['Never', 1, 'unknown', {}],
    ['Always', 0, 'created', { start: ['a'] }],
  ])('%s, after exit code %i of an instance that shows as %s', (restartPolicy, exitCode, state, expected) => {
    const pod = aPod({ restartPolicy, containers: two });
    const [a, b] = [aStatus('a', { state, exitCode: 255, reason: 'Unknown' }), aStatus('b')];
    const last = endOf(a.id, exitCode);
    const actions = computePodActions({ pod, status: withShownEnds(aRuntimePod([a, b]), last), last });
    expect(summary(actions)).toEqual(expected);
    expect(actions.containersToKill).toEqual([]);
    const booted = aRuntimePod([a, { ...b, state: 'exited', exitCode: 255 }], [gone]);
    const afterBoot = computePodActions({ pod, status: withShownEnds(booted, last), last });
    const started = restartPolicy === 'Never' ? undefined : 'start' in expected ? ['a', 'b'] : ['b'];
    expect(afterBoot.containersToStart).toEqual(started ?? []);
  });

  it.each<[what: string, last: PodStatus]>([
    ['names another instance', endOf('before', 0)],
    ['names none, since it could not be located', endedWith({ a: 0 })],
  ])('has not ended if the status %s', (_, last) => {
    const pod = aPod({ restartPolicy: 'OnFailure', containers: two });
    const status = aRuntimePod([aStatus('a', { state: 'created' }), aStatus('b')]);
    const actions = computePodActions({ pod, status: withShownEnds(status, last), last });
    expect(summary(actions)).toEqual({ start: ['a'] });
  });

  it('is named with its end', () => {
    const pod = aPod({ restartPolicy: 'Never', containers: two });
    const { reasons } = computePodActions({ pod, status: aRuntimePod([aStatus('b')]), last: endedWith({ a: 1 }) });
    expect(reasons.map(({ because }) => because)).toContain(
      'container a stays ended: the runtime has lost it, its status says that it exited with code 1, and restartPolicy Never leaves it',
    );
  });

  it.each<[row: string, policy: string, ended: object, containers: RuntimeContainerStatus[], expected: object]>([
    ['Never, one has ended and the runtime has lost it', 'Never', { a: 1 }, [], { createSandbox: 1, start: ['b'] }],
    ['Never, both have ended and are lost', 'Never', { a: 0, b: 1 }, [], {}],
    ['OnFailure, one has succeeded and is lost', 'OnFailure', { a: 0, b: 1 }, [], { createSandbox: 1, start: ['b'] }],
    ['Always', 'Always', { a: 0, b: 1 }, [], { createSandbox: 1, start: ['a', 'b'] }],
    [
      'Never, created and never started',
      'Never',
      {},
      [aStatus('a', { state: 'created' })],
      { createSandbox: 1, start: ['a', 'b'] },
    ],
  ])('%s', (_, restartPolicy, ended, containers, expected) => {
    const pod = aPod({ restartPolicy, containers: two });
    const actions = computePodActions({ pod, status: aRuntimePod(containers, [gone]), last: endedWith(ended) });
    expect(summary(actions)).toEqual({ killPod: true, ...expected });
  });
});
