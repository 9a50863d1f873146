import type { Invariant } from './monitor.js';
import { liveInstances } from './pod-truth.js';

export const oneLiveInstance: Invariant = {
  name: 'one-live-instance',
  rule: 'Of one container of one pod never more than one instance runs.',
  source: 'pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions',
  watch: (truth) => ({
    on: (event) => {
      if (event.kind !== 'container-started') return undefined;
      const { uid, container, containerId } = event;
      const pod = truth.pods.get(uid);
      const others = pod ? liveInstances(pod, container).filter((other) => other.containerId !== containerId) : [];
      if (others.length === 0) return undefined;
      const ids = others.map((other) => other.containerId).join(', ');
      return [
        { uid, container, message: `instance ${containerId} was started while ${ids} ran (expected one at a time)` },
      ];
    },
  }),
};
