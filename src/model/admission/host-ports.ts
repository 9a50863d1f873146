import { isSidecar, type Pod } from '../pod/pod.js';

/** A port of the node that a pod requests, and the pod that has it. */
export interface TakenPort {
  readonly port: number;
  readonly protocol: string;
  readonly holder: Pod;
}

/**
 * Returns the first port of the node that a pod requests and another pod has.
 *
 * Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go
 */
export const takenPort = (pod: Pod, others: readonly Pod[]): TakenPort | undefined => {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  // Only ports of the same number conflict.
  const taken = new Map<number, (HostPort & { readonly holder: Pod })[]>();
  for (const holder of others) {
    for (const one of hostPorts(holder)) {
      const same = taken.get(one.port);
      if (same) same.push({ holder, ...one });
      else taken.set(one.port, [{ holder, ...one }]);
    }
  }
  for (const one of wanted) {
    const found = taken.get(one.port)?.find((other) => conflict(one, other));
    if (found) return { port: found.port, protocol: found.protocol, holder: found.holder };
  }
  return undefined;
};

interface HostPort {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

const ANY_ADDRESS = '0.0.0.0';

/** The ports of the containers that run as long as the pod. */
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
