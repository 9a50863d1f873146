import type { PodStatus } from '../../../src/model/pod/pod.js';
import { generatePodStatus, type PodStatusInput } from '../../../src/model/pod-status/generate-pod-status.js';
import { aPod, aRuntimePod, aStatus } from '../pods.js';

export const now = Date.parse('2026-01-01T00:00:10.700Z');
/** The status of a pod that runs, where `fields` say nothing else. */
export const generate = (fields: Partial<PodStatusInput> = {}): PodStatus =>
  generatePodStatus({
    pod: aPod(),
    runtime: aRuntimePod([aStatus('web')]),
    podIsTerminal: false,
    now,
    runtimeName: 'containerd',
    ...fields,
  });
