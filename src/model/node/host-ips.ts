import { formatIp, type Ip, parseIp } from './ip.js';
import type { Node } from './node.js';

/**
 * Returns the addresses of the node for its pods, the primary one first and at most one of the other family: internal
 * addresses before external ones. None while the Node has none.
 *
 * Source: pkg/util/node/node.go GetNodeHostIPs
 */
export const hostIps = ({ status }: Node): readonly string[] => {
  const ofType = (wanted: string): readonly Ip[] =>
    (status?.addresses ?? []).flatMap(({ type, address }) => (type === wanted ? (parseIp(address) ?? []) : []));
  const ips = [...ofType('InternalIP'), ...ofType('ExternalIP')];
  const other = ips.find(({ family }) => family !== ips[0]?.family);
  return [...ips.slice(0, 1), ...(other ? [other] : [])].map(formatIp);
};
