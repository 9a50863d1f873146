import type { NodeFacts } from '../node-facts.js';
import { hostIps } from './host-ips.js';
import type { Node } from './node.js';

/**
 * The facts of a node with what its Node says now of labels, taints, resources and addresses, whenever they are read. What the Node does
 * not say is as it was.
 *
 * Source: pkg/kubelet/kubelet_getters.go getNodeAnyWay
 */
export const liveNodeFacts = (facts: NodeFacts, node: () => Node | undefined): NodeFacts => ({
  ...facts,
  get labels() {
    return node()?.metadata.labels ?? facts.labels;
  },
  get taints() {
    return node()?.spec?.taints ?? facts.taints;
  },
  // Only the API server gives a Node its UID.
  get isProvisional() {
    return node()?.metadata.uid === undefined;
  },
  get allocatable() {
    return node()?.status?.allocatable ?? facts.allocatable;
  },
  get nodeIps() {
    const known = node();
    const ips = known ? hostIps(known) : [];
    return ips.length > 0 ? ips : facts.nodeIps;
  },
});
