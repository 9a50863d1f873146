import { isSidecar, type Pod } from '../pod.js';

/**
 * Whether the ports that a pod wants of the node are free of those that others have.
 *
 * Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go
 */
export const hasFreePorts = (pod: Pod, others: readonly Pod[]): boolean => {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return true;
  const taken = others.flatMap(hostPorts);
  return !wanted.some((one) => taken.some((other) => conflict(one, other)));
};

interface HostPort {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

const ANY_ADDRESS = '0.0.0.0';

/** Of what runs for as long as the pod does. */
const hostPorts = ({ spec }: Pod): readonly HostPort[] =>
  [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)]
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostPort = 0, hostIP, protocol }) =>
      hostPort > 0 ? [{ port: hostPort, address: hostIP || ANY_ADDRESS, protocol: protocol ?? 'TCP' }] : [],
    );

const conflict = (one: HostPort, other: HostPort): boolean =>
  one.port === other.port &&
  one.protocol === other.protocol &&
  (one.address === other.address || one.address === ANY_ADDRESS || other.address === ANY_ADDRESS);
