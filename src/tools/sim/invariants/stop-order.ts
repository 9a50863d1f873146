import type { Invariant } from './monitor.js';
import { roleOf } from './pod-spec.js';
import { isLive } from './pod-truth.js';

export const stopOrder: Invariant = {
  name: 'stop-order',
  rule: 'A sidecar of a stopping pod is stopped only after every regular container and every later sidecar has ended, or after the grace period.',
  source: 'pkg/kubelet/kuberuntime/kuberuntime_termination_order.go',
  watch: (truth) => {
    /** Instances that could not be stopped, by the run that tried: no other one waits for them. */
    const failed = new Map<string, string>();
    return {
      on: (event) => {
        if (event.kind === 'call-ended' && event.call === 'StopContainer' && event.error !== undefined) {
          const call = truth.calls.get(event.number);
          const pass = truth.pods.get(call?.uid ?? '')?.pass;
          if (pass && call?.containerId !== undefined) failed.set(call.containerId, pass.id);
          return undefined;
        }
        if (event.kind !== 'call' || event.call !== 'StopContainer') return undefined;
        const { uid = '', container = '' } = truth.subject(event);
        const pod = truth.pods.get(uid);
        const pass = pod?.pass;
        if (!pod?.manifest || pass?.work !== 'terminating' || roleOf(pod.manifest, container) !== 'sidecar')
          return undefined;
        const { manifest } = pod;
        const graceSeconds = pass.graceSeconds ?? manifest.spec.terminationGracePeriodSeconds ?? 2;
        if (event.at - pass.since >= (graceSeconds - 1) * 1000) return undefined;
        const order = (manifest.spec.initContainers ?? []).map(({ name }) => name);
        const goesFirst = (name: string): boolean => {
          const role = roleOf(manifest, name);
          return role === 'regular' || (role === 'sidecar' && order.indexOf(name) > order.indexOf(container));
        };
        const running = pod.instances.find(
          (other) =>
            isLive(other) &&
            goesFirst(other.container) &&
            // This run does not know a container that was started after its last read.
            (other.startedAt ?? 0) < (pod.lastPassEndedAt ?? truth.lifeSince) &&
            failed.get(other.containerId) !== pass.id,
        );
        if (!running) return undefined;
        const message = `was stopped while ${running.container} ran (expected it to outlive that)`;
        return [{ uid, container, message }];
      },
    };
  },
};
