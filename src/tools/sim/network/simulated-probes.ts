import type { SchedulerLike } from 'rxjs';
import { probeHandlers } from '../../../streams/probes/probe-handlers.js';
import type { ProbeHandlers } from '../../../streams/ports/probe-handlers.js';
import type { SimulatedRuntime } from '../runtime/simulated-runtime.js';
import type { NetworkAsker, NetworkPorts } from './simulated-network.js';

/** The agent's own probes in the simulated world. Each names its kind to the world. */
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
    const { type, containerId } = target;
    const runtimeOf = { execSync: runtime.execProbe(type) };
    const asked = network({ which: type, containerId });
    return probeHandlers({ runtime: runtimeOf, ...asked, scheduler }).probe(target);
  },
});
