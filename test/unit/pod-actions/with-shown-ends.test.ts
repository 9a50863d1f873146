import { expect, it } from 'vitest';
import { withShownEnds } from '../../../src/model/pod-actions/with-shown-ends.js';
import { generatePodStatus } from '../../../src/model/pod-status/generate-pod-status.js';
import type { PodStatus } from '../../../src/model/pod/pod.js';
import { aContainer, aPod, aRuntimePod, aSandbox, aStatus } from '../pods.js';

const terminated = {
  ...{ exitCode: 3, reason: 'Error', message: 'said at the end' },
  ...{ startedAt: '2026-01-01T00:00:01Z', finishedAt: '2026-01-01T00:00:02Z', containerID: 'containerd://a1' },
};
const shown: PodStatus = {
  phase: 'Running',
  containerStatuses: [
    {
      ...{ name: 'a', image: '', imageID: '', ready: false, restartCount: 0, containerID: 'containerd://a1' },
      state: { terminated },
    },
  ],
};

it.each([
  ['unknown', ''],
  ['created', ''],
  ['exited', 'Unknown'],
] as const)('an end in the status stays there, all of it, where the runtime shows %s %s', (state, reason) => {
  const lost = aRuntimePod(
    [aStatus('a', { id: 'a1', state, reason, createdAt: 0n, startedAt: 0n, finishedAt: 0n, exitCode: 255 })],
    [aSandbox({ state: 'SANDBOX_NOTREADY' })],
  );
  const runtime = withShownEnds(lost, shown);
  const status = generatePodStatus({
    ...{ pod: aPod({ restartPolicy: 'Never', containers: [aContainer('a')] }), runtime, previous: shown },
    ...{
      podIsTerminal: false,
      now: Date.parse('2026-01-01T01:00:00Z'),
      runtimeName: 'containerd',
      hostIps: ['192.0.2.1'],
    },
  });
  expect(status.phase).toBe('Failed');
  expect(status.containerStatuses?.[0]?.state).toEqual({ terminated });
});

it.each([
  ['another code', { exitCode: 1, reason: 'Unknown' }],
  ['another reason', { exitCode: 255, reason: 'Error' }],
])('an end that the runtime shows with %s is believed', (_, end) => {
  const runtime = aRuntimePod([aStatus('a', { id: 'a1', state: 'exited', ...end })]);
  expect(withShownEnds(runtime, shown)).toEqual(runtime);
});
