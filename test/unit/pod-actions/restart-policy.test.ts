import { describe, expect, it } from 'vitest';
import type { Container } from '../../../src/model/pod/pod.js';
import {
  matchingRestartAction,
  restartable,
  restartsAfterKill,
  shouldRestart,
} from '../../../src/model/pod-actions/restart-policy.js';
import { aContainer, aPod } from '../pods.js';

const rule = (action: string, operator: string, ...values: number[]) => ({ action, exitCodes: { operator, values } });

describe('shouldRestart', () => {
  it.each<[pod: string | undefined, own: Partial<Container>, exitCode: number, restart: boolean]>([
    ['Always', {}, 0, true],
    ['Always', {}, 1, true],
    [undefined, {}, 0, true],
    ['SomethingNew', {}, 0, true],
    ['OnFailure', {}, 0, false],
    ['OnFailure', {}, 137, true],
    ['Never', {}, 0, false],
    ['Never', {}, 1, false],
    // A policy of the container's own overrides the pod's.
    ['Never', { restartPolicy: 'Always' }, 0, true],
    ['Always', { restartPolicy: 'Never' }, 1, false],
    ['Never', { restartPolicy: 'OnFailure' }, 1, true],
    ['Always', { restartPolicy: 'OnFailure' }, 0, false],
    // Rules come before it; the first match counts.
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'In', 42)] }, 42, true],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'In', 42)] }, 41, false],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'NotIn', 42)] }, 41, true],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('Restart', 'NotIn', 42)] }, 42, false],
    ['Never', { restartPolicy: 'Never', restartPolicyRules: [rule('RestartAllContainers', 'In', 1)] }, 1, true],
    ['Never', { restartPolicyRules: [rule('Restart', 'In', 42)] }, 42, false],
  ])('pod %s, container %j, exit code %i: %s', (restartPolicy, own, exitCode, restart) => {
    expect(shouldRestart(aPod({ restartPolicy }), aContainer('c', own), exitCode)).toBe(restart);
  });

  it('never restarts in a pod that is being deleted', () => {
    const pod = aPod({ restartPolicy: 'Always' }, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(shouldRestart(pod, aContainer('c'), 1)).toBe(false);
  });
});

it('takes the action of the first matching rule', () => {
  const restartPolicyRules = [rule('RestartAllContainers', 'In', 1), rule('Restart', 'NotIn', 0)];
  const container = aContainer('c', { restartPolicy: 'Never', restartPolicyRules });
  expect(matchingRestartAction(container, 1)).toBe('RestartAllContainers');
  expect(matchingRestartAction(container, 2)).toBe('Restart');
  expect(matchingRestartAction(container, 0)).toBeUndefined();
});

describe('restartable', () => {
  it('counts on a container even while its pod is being deleted', () => {
    const pod = aPod({ restartPolicy: 'Always' }, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(restartable(pod, aContainer('c'), { exitCode: 1 })).toBe(true);
  });

  it('counts on what was taken down by a restart of all containers', () => {
    const pod = aPod({ restartPolicy: 'Never' });
    expect(restartable(pod, aContainer('c'), { exitCode: 137, reason: 'RestartingAllContainers' })).toBe(true);
    expect(restartable(pod, aContainer('c'), { exitCode: 137, reason: 'Error' })).toBe(false);
  });
});

describe('restartsAfterKill', () => {
  it.each([
    ['Always', undefined, true],
    ['OnFailure', undefined, true],
    ['Never', undefined, false],
    ['Never', 'OnFailure', true],
    ['Always', 'Never', false],
  ])('pod %s, container %s: %s', (pod, own, restarts) => {
    expect(restartsAfterKill(aPod({ restartPolicy: pod }), aContainer('c', { restartPolicy: own }))).toBe(restarts);
  });
});
