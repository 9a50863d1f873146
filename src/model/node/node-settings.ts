import type { ResourceList } from '../resources/resource-list.js';
import type { Taint } from './node.js';

/** The user's settings of the Node object; the other fields come from the machine and the runtime. */
export interface NodeObjectSettings {
  /** The name of the Node and of the host, in labels and addresses. */
  readonly nodeName: string;
  /** `--node-labels`, parsed by `parseNodeLabels`. They override the agent's own. */
  readonly labels: Readonly<Record<string, string>>;
  /** `registerWithTaints`: set only when the Node is created. */
  readonly taints: readonly Taint[];
  /** `providerID`; empty for none. Set only when the Node is created. */
  readonly providerId: string;
  /** `--node-ip`, parsed by `parseNodeIps`; if absent, the agent chooses. */
  readonly nodeIps: readonly string[];
  /** `--cloud-provider=external`: addresses of the cloud provider stay. */
  readonly externalCloudProvider: boolean;
  /** `enableControllerAttachDetach`. */
  readonly controllerAttachDetach: boolean;
  readonly maxPods: number;
  /** No limit by cores unless above 0. */
  readonly podsPerCore: number;
  readonly systemReserved: ResourceList;
  readonly kubeReserved: ResourceList;
  /** `evictionHard`: amounts that are not allocatable, or shares of the capacity such as `10%`. */
  readonly evictionHard: Readonly<Record<string, string>>;
  /** `localStorageCapacityIsolation`: the node reports its storage. */
  readonly localStorage: boolean;
  /** `nodeStatusMaxImages`; below 0 for all. */
  readonly maxImages: number;
  /** The features of `status.declaredFeatures`, sorted. */
  readonly declaredFeatures: readonly string[];
  /** The port of the agent's server for the API server. */
  readonly serverPort: number;
  /** The result of `kubeletVersion`. */
  readonly kubeletVersion: string;
}
