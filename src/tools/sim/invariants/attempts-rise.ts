import type { Finding, Invariant } from './monitor.js';

export const attemptsRise: Invariant = {
  name: 'attempts-rise',
  rule: 'However clocks are set, a new instance of a container has a higher attempt than every started one of its pod, and a new sandbox a higher one than every other that is left.',
  source:
    'pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer, pkg/kubelet/kuberuntime/kuberuntime_sandbox.go createPodSandbox',
  watch: (truth) => ({
    on: (event): readonly Finding[] | undefined => {
      if (event.kind !== 'container-created' && event.kind !== 'sandbox-created') return undefined;
      const { uid, attempt } = event;
      const pod = truth.pods.get(uid);
      if (!pod) return undefined;
      const container = 'container' in event ? event.container : undefined;
      const before =
        container === undefined
          ? pod.sandboxes
          : pod.instances.filter((one) => one.container === container && (one.startedAt ?? one.exitedAt) !== undefined);
      const highest = Math.max(-1, ...before.flatMap((one) => (one.removedAt === undefined ? one.attempt : [])));
      if (attempt > highest) return undefined;
      const message = `is created with attempt ${attempt} (expected more than ${highest})`;
      return [{ uid, ...(container !== undefined && { container }), message }];
    },
  }),
};
