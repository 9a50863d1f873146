import type { Invariant } from './monitor.js';
import { roleOf } from './pod-spec.js';

export const initOrder: Invariant = {
  name: 'init-order',
  rule: 'A container starts only when, in the same sandbox, every init container before it has succeeded and every sidecar before it has been started.',
  source: 'pkg/kubelet/kuberuntime/kuberuntime_container.go computeInitContainerActions',
  watch: (truth) => ({
    on: (event) => {
      if (event.kind !== 'container-started') return undefined;
      const { uid, container, sandboxId } = event;
      const pod = truth.pods.get(uid);
      if (!pod?.manifest || roleOf(pod.manifest, container) === 'ephemeral') return undefined;
      const inits = pod.manifest.spec.initContainers ?? [];
      const position = inits.findIndex(({ name }) => name === container);
      const earlier = position < 0 ? inits : inits.slice(0, position);
      for (const { name } of earlier) {
        const ofName = pod.instances.filter((other) => other.container === name && other.sandboxId === sandboxId);
        const isSidecar = roleOf(pod.manifest, name) === 'sidecar';
        const isDone = ofName.some(({ startedAt, exitCode }) => (isSidecar ? startedAt !== undefined : exitCode === 0));
        if (isDone) continue;
        const needed = isSidecar ? 'been started' : 'succeeded';
        return [{ uid, container, message: `was started before init container ${name} had ${needed} in its sandbox` }];
      }
      return undefined;
    },
  }),
};
