import type { SchedulerLike } from 'rxjs';
import { probeHandlers } from '../streams/probes/probe-handlers.js';
import type { ProbeHandlers, ProbeTarget } from '../streams/ports.js';
import type { ProbeName } from './behaviour.js';
import type { SimulatedRuntime } from './runtime/simulated-runtime.js';
import type { NetworkAsker, NetworkPorts } from './simulated-network.js';

/** The agent's own probes, asking in the simulated world. Each tells the world which probe it is. */
export const simulatedProbes = ({
  runtime,
  network,
  scheduler,
}: {
  readonly runtime: Pick<SimulatedRuntime, 'execProbe'>;
  readonly network: (asker: NetworkAsker) => NetworkPorts;
  readonly scheduler: SchedulerLike;
}): ProbeHandlers => ({
  probe: (target) => {
    const which = nameOf(target);
    const runtimeOf = { execSync: runtime.execProbe(which) };
    const asked = network({ which, containerId: target.containerId });
    return probeHandlers({ runtime: runtimeOf, ...asked, scheduler }).probe(target);
  },
});

const nameOf = ({ container, probe }: ProbeTarget): ProbeName | undefined => {
  if (probe === container.startupProbe) return 'startup';
  if (probe === container.readinessProbe) return 'readiness';
  return probe === container.livenessProbe ? 'liveness' : undefined;
};
