import type { Finding, Invariant } from './monitor.js';
import { isTerminal } from './pod-spec.js';
import { isLive } from './pod-truth.js';

/** The longest delay of a probe beside its period. Milliseconds. */
const SLACK_MS = 60_000;

export const probesGoOn: Invariant = {
  name: 'probes-go-on',
  rule: 'While a container runs, its readiness and liveness probes are sent every period.',
  source: 'pkg/kubelet/prober/worker.go run',
  watch: (truth) => {
    const asked = new Map<string, number>();
    return {
      on: (event) => {
        if (event.kind === 'asked' && event.which) asked.set(`${event.containerId} ${event.which}`, event.at);
        return undefined;
      },
      end: ({ at, quietSince }) => {
        if (truth.life === undefined) return [];
        const findings: Finding[] = [];
        for (const pod of truth.pods.values()) {
          const { uid, wanted, shown } = pod;
          if (!wanted || pod.terminatingSince !== undefined || isTerminal(shown?.pod.status?.phase)) continue;
          for (const container of wanted.spec.containers) {
            const live = pod.instances.find((instance) => instance.container === container.name && isLive(instance));
            const status = shown?.pod.status?.containerStatuses?.find(({ name }) => name === container.name);
            if (!live || status?.started !== true) continue;
            for (const which of ['readiness', 'liveness'] as const) {
              const probe = container[`${which}Probe`];
              const last = asked.get(`${live.containerId} ${which}`);
              // A container that never replies is never seen to be probed.
              if (!probe || last === undefined) continue;
              // After its last failure a liveness probe waits for the next instance.
              if ((pod.probeFailedAt.get(container.name) ?? -1) >= last) continue;
              const periodMs = (probe.periodSeconds || 10) * 1000;
              const lateMs = at - Math.max(last, quietSince, shown?.at ?? 0) - 2 * periodMs - SLACK_MS;
              if (lateMs < 0) continue;
              const message = `its ${which} probe was not sent for ${at - last} ms (expected every ${periodMs} ms)`;
              findings.push({ uid, container: container.name, message });
            }
          }
        }
        return findings;
      },
    };
  },
};
