import type { NodeFacts } from './node-facts.js';
import { hostIps } from './host-ips.js';
import type { Node } from './node.js';

/**
 * The facts of a node with the current labels, taints, resources and addresses of its Node, read on each access. Fields
 * that the Node does not have keep their first value.
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
