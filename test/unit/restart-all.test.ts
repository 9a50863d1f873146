import { expect, it } from 'vitest';
import { isRestartingAll } from '../../src/model/restart-all.js';
import type { RuntimeContainerStatus } from '../../src/model/runtime-pod.js';
import { aContainer, aPod, aRuntimePod, aStatus, exited } from './pods.js';

const asks = {
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
};
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };

it.each<[row: string, containers: RuntimeContainerStatus[], metadata: object, restarting: boolean]>([
  ['nothing has ended', [aStatus('a'), aStatus('i')], {}, false],
  ['it ended with another code', [exited('a', 1)], {}, false],
  ['it ended with that code', [exited('a', 42)], {}, true],
  ['an init container did', [exited('i', 42)], {}, true],
  ['one without such a rule did', [exited('b', 42)], {}, false],
  ['the pod is being deleted', [exited('a', 42)], deleting, false],
])('%s', (_, containers, metadata, restarting) => {
  const pod = aPod(
    { containers: [aContainer('a', asks), aContainer('b')], initContainers: [aContainer('i', asks)] },
    metadata,
  );
  expect(isRestartingAll(pod, aRuntimePod(containers))).toBe(restarting);
});
