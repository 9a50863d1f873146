import type { Node, Taint } from './node.js';
import type { NodeObjectSettings } from './node-settings.js';
import { foldNodeStatus, type NodeStatusFacts, type NodeStatusFold, OS } from './node-status.js';

export const ATTACH_DETACH_ANNOTATION = 'volumes.kubernetes.io/controller-managed-attach-detach';
export const OS_LABEL = 'kubernetes.io/os';
export const ARCH_LABEL = 'kubernetes.io/arch';

/**
 * The taint until the cloud provider has initialized the node. Source:
 * staging/src/k8s.io/cloud-provider/api/well_known_taints.go
 */
const UNINITIALIZED: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

/** The labels that every kubelet gives its Node. Source: pkg/kubelet/kubelet_node_status.go initialNode */
const defaultLabels = (nodeName: string, architecture: string): Readonly<Record<string, string>> => ({
  'kubernetes.io/hostname': nodeName,
  [OS_LABEL]: OS,
  [ARCH_LABEL]: architecture,
  'beta.kubernetes.io/os': OS,
  'beta.kubernetes.io/arch': architecture,
});

/**
 * Returns the Node that this agent creates.
 *
 * Source: pkg/kubelet/kubelet_node_status.go initialNode
 */
export const initialNode = (settings: NodeObjectSettings, facts: NodeStatusFacts): NodeStatusFold => {
  const { nodeName, labels, providerId, controllerAttachDetach, externalCloudProvider } = settings;
  const taints = [...settings.taints, ...(externalCloudProvider ? [UNINITIALIZED] : [])];
  const bare: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      labels: { ...defaultLabels(nodeName, facts.machine.architecture), ...labels },
      ...(controllerAttachDetach && { annotations: { [ATTACH_DETACH_ANNOTATION]: 'true' } }),
    },
    spec: {
      ...(taints.length > 0 && { taints }),
      ...(providerId !== '' && { providerID: providerId }),
    },
  };
  return foldNodeStatus(bare, settings, facts);
};
