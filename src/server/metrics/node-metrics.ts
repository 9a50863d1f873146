import { Gauge, type Registry } from 'prom-client';
import type { Metrics, NodeStartupPart } from '../../streams/ports/metrics.js';

const NAMES: Readonly<Record<NodeStartupPart, readonly [name: string, help: string]>> = {
  'pre-kubelet': [
    'kubelet_node_startup_pre_kubelet_duration_seconds',
    'Seconds from the start of the machine to the start of the agent.',
  ],
  'pre-registration': [
    'kubelet_node_startup_pre_registration_duration_seconds',
    'Seconds from the start of the agent to its first attempt to register a new node.',
  ],
  registration: [
    'kubelet_node_startup_registration_duration_seconds',
    'Seconds from the first attempt to register a new node to its registration.',
  ],
  'post-registration': [
    'kubelet_node_startup_post_registration_duration_seconds',
    'Seconds from the registration of a new node to its being ready.',
  ],
  total: ['kubelet_node_startup_duration_seconds', 'Seconds from the start of the machine to a new node being ready.'],
};

/**
 * The durations of the start of a new node; all are 0 unless this agent has created the Node.
 *
 * Source: pkg/kubelet/metrics/metrics.go NodeStartupDuration
 */
export const nodeMetrics = (registry: Registry): Pick<Metrics, 'nodeStartup'> => {
  const gauges = new Map(
    Object.entries(NAMES).map(([part, [name, help]]) => [part, new Gauge({ name, help, registers: [registry] })]),
  );
  return { nodeStartup: (part, seconds) => gauges.get(part)?.set(seconds) };
};
