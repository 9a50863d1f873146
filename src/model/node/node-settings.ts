import type { ResourceList, Taint } from './node.js';

/** What somebody decides about the Node object; the rest is read from the machine and the runtime. */
export interface NodeObjectSettings {
  /** Also the name of the host, as labels and addresses have it. */
  readonly nodeName: string;
  /** `--node-labels`, as `parseNodeLabels` reads them. They win over the agent's own. */
  readonly labels: Readonly<Record<string, string>>;
  /** `registerWithTaints`: only a Node that is created gets them. */
  readonly taints: readonly Taint[];
  /** `providerID`; empty for none. Only a Node that is created gets it. */
  readonly providerId: string;
  /** `--node-ip`, as `parseNodeIps` reads it; none leaves the choice to the agent. */
  readonly nodeIps: readonly string[];
  /** `--cloud-provider=external`: addresses that the cloud has set stay. */
  readonly externalCloudProvider: boolean;
  /** `enableControllerAttachDetach`. */
  readonly controllerAttachDetach: boolean;
  readonly maxPods: number;
  /** No limit by cores unless more than 0. */
  readonly podsPerCore: number;
  readonly systemReserved: ResourceList;
  readonly kubeReserved: ResourceList;
  /** `evictionHard`: what is never given to pods; amounts, or shares of the capacity such as `10%`. */
  readonly evictionHard: Readonly<Record<string, string>>;
  /** `localStorageCapacityIsolation`: the node states how much storage it has. */
  readonly localStorage: boolean;
  /** `nodeStatusMaxImages`; less than 0 for all. */
  readonly maxImages: number;
  /** Port of the agent's server for the API server. */
  readonly serverPort: number;
  /** As `kubeletVersion` makes it. */
  readonly kubeletVersion: string;
}
