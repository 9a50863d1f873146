import { expect, it } from 'vitest';
import { containerIn, podOf } from './plan-of.js';

it('rejects a pod that may not run on this node, with the reason of the kubelet', () => {
  const pod = podOf({
    spec: `  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: Exists}]}]
  containers: [{name: app, image: "i:1"}]
`,
    for: '1m',
  });
  expect(pod.rejected?.reason).toBe('NodeAffinity');
  expect(containerIn(pod, 'app').instances).toEqual([]);
  expect(pod.drain).toBeUndefined();
});

it('takes every size of a pod, and the labels that it selects', () => {
  const pod = podOf({
    spec: `  nodeSelector: {disk: fast}
  containers: [{name: app, image: "i:1", resources: {requests: {cpu: 200, memory: 2Ti}}}]
`,
    for: '1m',
  });
  expect(pod.rejected).toBeUndefined();
  expect(pod.firstReady).toBeDefined();
});
