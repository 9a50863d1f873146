import { expect, it } from 'vitest';
import { restoredPod } from '../../../src/model/cri/restored-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';

const runningPod = { uid: 'uid-1', namespace: 'default', name: 'web', items: [], observedAt: 0 };

it('knows of each container the configuration with which its newest instance was created', () => {
  const preStop = { exec: { command: ['bye'] } };
  const ports = [{ containerPort: 80 }];
  const pod = restoredPod(
    runningPod,
    aRuntimeStatus([
      aContainer({
        name: 'main',
        id: 'new',
        image: 'app:2',
        annotations: {
          'io.kubernetes.container.preStopHandler': JSON.stringify(preStop),
          'io.kubernetes.container.ports': JSON.stringify(ports),
          'io.kubernetes.pod.terminationGracePeriod': '45',
          'io.kubernetes.pod.deletionGracePeriod': '7',
        },
      }),
      aContainer({ name: 'main', id: 'old', image: 'app:1' }),
      aContainer({ name: 'side' }),
    ]),
  );
  expect(pod).toMatchObject({
    metadata: { uid: 'uid-1', namespace: 'default', name: 'web', deletionGracePeriodSeconds: 7 },
    spec: {
      terminationGracePeriodSeconds: 45,
      containers: [
        { name: 'main', image: 'app:2', ports, lifecycle: { preStop } },
        { name: 'side', image: 'host' },
      ],
    },
  });
});

it('knows nothing of unrecorded periods', () => {
  const pod = restoredPod(runningPod, aRuntimeStatus([aContainer({ name: 'main' })]));
  expect(pod.spec.terminationGracePeriodSeconds).toBeUndefined();
  expect(pod.metadata.deletionGracePeriodSeconds).toBeUndefined();
  expect(pod.spec.containers[0]?.lifecycle).toBeUndefined();
});
