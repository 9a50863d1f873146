import { containerOf } from './pod-spec.js';
import type { Invariant } from './monitor.js';

/** The clocks of one machine differ by less. Milliseconds. */
const SLACK_MS = 50;

export const probesArePatient: Invariant = {
  name: 'probes-are-patient',
  rule: 'However clocks are set and differ, no probe reaches an instance that this agent has started before its initial delay is over.',
  source: 'pkg/kubelet/prober/worker.go doProbe; with clocks that are set the rule is ours',
  watch: (truth) => ({
    on: (event) => {
      // A probe of the instance before, which connects only now, is not one of its successor.
      if (event.kind !== 'asked' || !event.which || event.meantFor !== undefined) return undefined;
      const { uid, container, containerId, which, at } = event;
      const startedAt = truth.instances.get(containerId)?.startedAt;
      const pod = truth.pods.get(uid);
      if (startedAt === undefined || startedAt < truth.lifeSince || !pod?.manifest) return undefined;
      // The agent may not have received the last version of the pod yet.
      if (pod.specSince > startedAt) return undefined;
      const delayMs = (containerOf(pod.manifest, container)?.[`${which}Probe`]?.initialDelaySeconds ?? 0) * 1000;
      const ranMs = at - startedAt;
      if (ranMs >= delayMs - SLACK_MS) return undefined;
      return [
        { uid, container, message: `its ${which} probe came ${ranMs} ms after its start (expected ${delayMs} ms)` },
      ];
    },
  }),
};
