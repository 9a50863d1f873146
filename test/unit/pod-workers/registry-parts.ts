import { expect } from 'vitest';
import type { RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import type { PodUpdate } from '../../../src/model/pod-workers/pod-update.js';
import { PodWorkerRegistry } from '../../../src/model/pod-workers/pod-worker-registry.js';
import type { Run, Start } from '../../../src/model/pod-workers/pod-worker-run.js';
import type { Wake } from '../../../src/model/pod-workers/wake.js';
import type { Pod } from '../../../src/model/pod/pod.js';

export const OK = { isTerminal: false };
export const wake = (uid: string, cancel = false): Wake => ({ uid, update: expect.any(Object) as PodUpdate, cancel });
export const update = (pod: Pod, rest: Partial<PodUpdate> = {}): PodUpdate => ({
  type: 'sync',
  pod,
  causes: [],
  ...rest,
});
export const create = (pod: Pod): PodUpdate => update(pod, { type: 'create' });
export const kill = (pod: Pod, graceSeconds?: number): PodUpdate =>
  update(pod, { type: 'kill', kill: { graceSeconds } });
export const runOf = (start: Start): Run => {
  if (start.kind !== 'run') throw new Error(`expected a run, got ${start.kind}`);
  return start.run;
};
export const runningPod = (uid: string): RuntimePod => ({
  uid,
  name: 'lost',
  namespace: 'default',
  items: [],
  observedAt: 0,
});

/** A registry in which `pod` was created and has synced once. */
export const withSyncedPod = (pod: Pod): PodWorkerRegistry => {
  const registry = new PodWorkerRegistry();
  registry.update(create(pod), 0);
  registry.start(pod.metadata.uid, 0);
  registry.complete(pod.metadata.uid, 'sync', OK, 1);
  return registry;
};
