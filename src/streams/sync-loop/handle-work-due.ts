import { podRef } from '../../model/pod.js';
import type { Delivery } from '../../model/pod-workers/pod-worker-registry.js';
import type { LoopDesk } from './loop-desk.js';

/**
 * Looks again at the pods whose time has come. What is due of a pod that nobody wants any more is dropped: housekeeping
 * drives those.
 *
 * Source: pkg/kubelet/kubelet.go getPodsToSync
 */
export const handleWorkDue =
  ({ queue, pods, workers, record, scheduler }: LoopDesk) =>
  (): readonly Delivery[] => {
    const now = scheduler.now();
    return queue.takeDue(now).flatMap(({ uid, cause }) => {
      const pod = pods.get(uid);
      if (!pod) return [];
      const due = record({ kind: 'work-due', pod: podRef(pod), causes: [cause] });
      const { mirrorPod } = pods.resolve(pod);
      return workers.update({ type: 'sync', pod, mirrorPod, startedAt: now, causes: [due] }, now);
    });
  };
