import type { Invariant } from './monitor.js';
import { isStaticSource } from './pod-spec.js';
import { isLive } from './pod-truth.js';

export const oneRevision: Invariant = {
  name: 'one-revision',
  rule: 'Containers of two static pods of one full name never run at the same time.',
  source: 'pkg/kubelet/pod_workers.go allowStaticPodStart; across lives of the agent the rule is ours',
  watch: (truth) => ({
    on: (event) => {
      if (event.kind !== 'container-started') return undefined;
      const pod = truth.pods.get(event.uid);
      if (!pod || !isStaticSource(pod.source)) return undefined;
      for (const other of truth.pods.values()) {
        if (other === pod || other.name !== pod.name || other.namespace !== pod.namespace) continue;
        if (!isStaticSource(other.source)) continue;
        const running = other.instances.find(isLive);
        if (!running) continue;
        const message = `container ${event.container} was started while ${running.container} of pod ${other.uid} ran, which has the same name (expected one revision at a time)`;
        return [{ uid: event.uid, container: event.container, message }];
      }
      return undefined;
    },
  }),
};
