import type { RecordedKill } from '../../model/pod-workers/pod-update.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import { podRef } from '../../model/pod/pod.js';
import type { LoopContext } from './loop-context.js';

/** Wakes the worker of the pod to stop it. A pod that is being stopped keeps its grace period, unless this one is shorter. */
export const handleKill =
  ({ state: { workers }, guard, scheduler }: LoopContext) =>
  ({ pod, kill, cause }: RecordedKill): readonly Wake[] =>
    guard(podRef(pod), () => {
      const now = scheduler.now();
      return workers.update({ type: 'kill', pod, kill, startedAt: now, causes: [cause] }, now);
    });
