import { describe, expect, it } from 'vitest';
import { computePodActions } from '../../../src/model/pod-actions/compute-pod-actions.js';
import type { PodActions } from '../../../src/model/pod-actions/pod-actions.js';
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
