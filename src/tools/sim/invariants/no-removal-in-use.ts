import type { Invariant } from './monitor.js';
import { isLive } from './pod-truth.js';

/** The time for which an agent may not know that its created container has been started. */
const UNHEARD_MS = 10_000;

export const noRemovalInUse: Invariant = {
  name: 'no-removal-in-use',
  rule: 'No container is removed while it runs, no sandbox while containers run in it, and no image that a container uses.',
  source: 'pkg/kubelet/kuberuntime/kuberuntime_gc.go, pkg/kubelet/images/image_gc_manager.go',
  watch: (truth) => ({
    on: (event) => {
      if (event.kind === 'image-removed') {
        const user = [...truth.instances.values()].find(
          (one) => event.names.includes(one.image) && isLive(one) && event.at - one.createdAt > UNHEARD_MS,
        );
        if (!user) return undefined;
        const message = `its image ${user.image} is removed while it runs`;
        return [{ uid: user.uid, container: user.container, message }];
      }
      if (event.kind !== 'call' || !event.call.startsWith('Remove')) return undefined;
      const { uid, container, containerId, sandboxId } = truth.subject(event);
      switch (event.call) {
        case 'RemoveContainer': {
          const instance = truth.instances.get(containerId ?? '');
          if (!instance || !isLive(instance) || event.at - (instance.startedAt ?? 0) < UNHEARD_MS) return undefined;
          return [
            { uid, container, message: `instance ${containerId} is removed while it runs (expected it to be ended)` },
          ];
        }
        case 'RemovePodSandbox': {
          const running = [...truth.instances.values()].find(
            (instance) => instance.sandboxId === sandboxId && isLive(instance),
          );
          if (!running || event.at - (running.startedAt ?? 0) < UNHEARD_MS) return undefined;
          return [{ uid, message: `sandbox ${sandboxId} is removed while ${running.container} runs in it` }];
        }
        default:
          return undefined;
      }
    },
  }),
};
