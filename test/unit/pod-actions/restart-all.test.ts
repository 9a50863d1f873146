import { expect, it } from 'vitest';
import type { PodStatus } from '../../../src/model/pod/pod.js';
import { isResetDone, isRestartingAll } from '../../../src/model/pod-actions/restart-all.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import { aContainer, aPod, aRuntimePod, aStatus, exited } from '../pods.js';

const rule = (operator: string, ...values: number[]) => ({
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator, values } }],
});
const asks = rule('In', 42);
const pod = aPod({
  containers: [aContainer('a', asks), aContainer('b'), aContainer('any', rule('NotIn', 0))],
  initContainers: [aContainer('i', asks)],
});

it.each<[row: string, containers: RuntimeContainerStatus[], restarting: boolean]>([
  ['nothing has ended', [aStatus('a'), aStatus('i')], false],
  ['it ended with another code', [exited('a', 1)], false],
  ['it ended with that code', [exited('a', 42)], true],
  ['an init container did', [exited('i', 42)], true],
  ['one without such a rule did', [exited('b', 42)], false],
  ['it did and runs again', [aStatus('a', { id: 'a-1' }), exited('a', 42)], false],
  ['one that the agent has killed runs again', [aStatus('any', { id: 'any-1' }), exited('any', 137)], false],
  ['it runs again and has ended with another code', [exited('a', 1, { id: 'a-1' }), exited('a', 42)], false],
  ['it did the second time', [exited('a', 42, { id: 'a-1' }), exited('a', 1)], true],
  ['it was made again and not started', [aStatus('a', { id: 'a-1', state: 'created' }), exited('a', 42)], false],
])('%s', (_, containers, restarting) => {
  expect(isRestartingAll(pod, aRuntimePod(containers), undefined)).toBe(restarting);
});

const condition = (status: string): PodStatus => ({ conditions: [{ type: 'AllContainersRestarting', status }] });
const ended = (name: string, exitCode: number): PodStatus => ({
  containerStatuses: [
    { name, image: '', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode } } },
  ],
});

it.each<[row: string, containers: RuntimeContainerStatus[] | undefined, told: PodStatus, restarting: boolean]>([
  ['the pod is restarting', [aStatus('a')], condition('True'), true],
  ['the pod is not', [aStatus('a')], condition('False'), false],
  ['the pod is restarting, and all that was is gone', [], condition('True'), true],
  ['it ended with that code, and the runtime forgot it', [], ended('a', 42), false],
  ['it ended with that code, and runs', [aStatus('a')], ended('a', 42), false],
  ['it ended with that code, and now with another', [exited('a', 1)], ended('a', 42), true],
  ['it ended with that code, while no call asks the runtime', undefined, ended('a', 42), true],
  ['it ended with another, while no call asks the runtime', undefined, ended('a', 1), false],
])('where the last status says that %s', (_, containers, told, restarting) => {
  expect(isRestartingAll(pod, containers && aRuntimePod(containers), told)).toBe(restarting);
});

it.each<[row: string, containers: RuntimeContainerStatus[], done: boolean]>([
  ['nothing is left', [], true],
  ['only an ephemeral container is left', [aStatus('debugger')], true],
  ['an ended one is left', [exited('b', 0)], false],
  ['an init container is left', [exited('i', 0)], false],
])('the reset is done: %s', (_, containers, done) => {
  expect(isResetDone(pod, aRuntimePod(containers))).toBe(done);
});
