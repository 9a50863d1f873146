import { isGateOn } from '../config/fields/feature-gates.js';
import type { AgentConfig } from '../config/fields/kubelet-configuration.js';

/**
 * The features of this agent that upstream declares. ExtendWebSocketsToKubelet of upstream is missing: an API server sends SPDY to a node
 * without it, which every runtime understands.
 */
const IMPLEMENTED = [
  ...['InPlacePodLevelResourcesVerticalScaling', 'InPlacePodVerticalScalingInitContainers'],
  'RestartAllContainersOnContainerExits',
];

/**
 * Returns `status.declaredFeatures` of the Node, sorted: the scheduler places a pod that needs a feature only on a node that declares
 * it.
 *
 * Source: staging/src/k8s.io/component-helpers/nodedeclaredfeatures
 */
export const declaredFeatures = ({ featureGates }: Pick<AgentConfig, 'featureGates'>): readonly string[] =>
  IMPLEMENTED.filter((gate) => isGateOn(featureGates, gate)).toSorted();
