import { kubeletVersion } from '../../model/node/kubelet-version.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import { serverAccess } from '../../model/server/server-access.js';
import type { AgentConfig } from '../config/fields/kubelet-configuration.js';
import type { ClusterFlags } from './cluster-flags.js';
import { declaredFeatures } from './declared-features.js';

/** The settings of the Node object in configuration and flags. */
export const nodeObjectSettings = (
  config: AgentConfig,
  flags: ClusterFlags,
  { nodeName, version }: { readonly nodeName: string; readonly version: string },
): NodeObjectSettings => ({
  nodeName,
  labels: flags.nodeLabels,
  taints: config.registerWithTaints,
  providerId: config.providerID,
  nodeIps: flags.nodeIps,
  externalCloudProvider: flags.cloudProvider === 'external',
  controllerAttachDetach: config.enableControllerAttachDetach,
  maxPods: config.maxPods,
  podsPerCore: config.podsPerCore,
  systemReserved: config.systemReserved,
  kubeReserved: config.kubeReserved,
  evictionHard: config.evictionHard,
  localStorage: config.localStorageCapacityIsolation,
  maxImages: config.nodeStatusMaxImages,
  declaredFeatures: declaredFeatures(config),
  serverPort: serverAccess(config, true).kind === 'open' ? config.port : 0,
  kubeletVersion: kubeletVersion(version),
});
