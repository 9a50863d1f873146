import type { Image } from '../../generated/runtime/v1/api.js';
import { toTimestamp } from '../timestamp.js';
import type { MachineFacts } from './machine-facts.js';
import type { Node, NodeStatus, ResourceList } from './node.js';
import { chooseAddresses, type LookedUp, providedIpAnnotation } from './node-addresses.js';
import { foldConditions, type NodePressure } from './node-conditions.js';
import { nodeImages } from './node-images.js';
import { allocatableOf, isExtendedResource, machineCapacity } from './node-resources.js';
import type { NodeObjectSettings } from './node-settings.js';
import type { RuntimeReport } from './runtime-report.js';

/** What is known now of all that a Node tells. */
export interface NodeStatusFacts {
  readonly machine: MachineFacts;
  readonly lookedUp: LookedUp;
  /** Such as `containerd://1.7.2`; `Unknown` stands for a version that the runtime did not tell. */
  readonly runtimeVersion: string;
  readonly images: readonly Image[];
  readonly runtime: RuntimeReport;
  readonly pressure: NodePressure;
  /** Unix milliseconds. */
  readonly now: number;
}

/** An event about the node. */
export interface NodeEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface NodeStatusFold {
  readonly node: Node;
  readonly events: readonly NodeEvent[];
  /** What could not be told. The rest is told all the same. */
  readonly problems: readonly string[];
}

export const OS = 'linux';
export const PROVIDED_IP_ANNOTATION = 'alpha.kubernetes.io/provided-node-ip';
const CONDITION_EVENTS = 'Normal';

/**
 * The Node with all of its status told anew. What others have written stays: conditions, resources, and fields that nobody here
 * knows.
 *
 * Source: pkg/kubelet/kubelet_node_status.go setNodeStatus, pkg/kubelet/nodestatus/setters.go
 */
export const foldNodeStatus = (before: Node, settings: NodeObjectSettings, facts: NodeStatusFacts): NodeStatusFold => {
  const { nodeName } = settings;
  const { machine, runtime } = facts;
  const old: NodeStatus = before.status ?? {};
  const choice = chooseAddresses(settings, machine.network, facts.lookedUp, old.addresses ?? []);
  const capacity = { ...old.capacity, ...machineCapacity(machine, settings) };
  const images = nodeImages(facts.images, settings.maxImages);
  const handlers = runtimeHandlers(runtime);
  const { conditions, events } = foldConditions(old.conditions ?? [], {
    pressure: facts.pressure,
    problems: [...runtime.problems, ...missingCapacity(capacity, settings)],
    now: toTimestamp(facts.now),
  });
  const status: NodeStatus = {
    ...old,
    addresses: choice.kind === 'addresses' ? [...choice.addresses] : old.addresses,
    capacity,
    allocatable: { ...withoutGone(old.allocatable, capacity), ...allocatableOf(capacity, settings) },
    nodeInfo: {
      ...old.nodeInfo,
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      ...(machine.swapBytes > 0n && { swap: { capacity: Number(machine.swapBytes) } }),
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: facts.runtimeVersion,
      kubeletVersion: settings.kubeletVersion,
      // Nobody knows it here, and the field is on its way out: gate DisableNodeKubeProxyVersion.
      kubeProxyVersion: '',
      operatingSystem: OS,
      architecture: machine.architecture,
    },
    daemonEndpoints: { kubeletEndpoint: { Port: settings.serverPort } },
    // The API leaves an empty list out.
    images: images.length === 0 ? undefined : images,
    runtimeHandlers: handlers.length === 0 ? undefined : handlers,
    features: runtime.features ? { supplementalGroupsPolicy: runtime.features.supplementalGroupsPolicy } : old.features,
    conditions: [...conditions],
  };
  const bootId = old.nodeInfo?.bootID ?? '';
  return {
    node: { ...before, metadata: withProvidedIp(before.metadata, settings), status },
    events: [
      ...(bootId !== '' && bootId !== machine.bootId ? [rebooted(nodeName, machine.bootId)] : []),
      ...events.map((reason) => statusEvent(nodeName, reason)),
    ],
    problems: choice.kind === 'problem' ? [choice.problem] : [],
  };
};

/** What tells that a condition of the node, or whether pods may be placed on it, has changed. */
export const statusEvent = (nodeName: string, reason: string): NodeEvent => ({
  type: CONDITION_EVENTS,
  reason,
  message: `Node ${nodeName} status is now: ${reason}`,
});

export const REBOOTED = 'Rebooted';

const rebooted = (nodeName: string, bootId: string): NodeEvent => ({
  type: 'Warning',
  reason: REBOOTED,
  message: `Node ${nodeName} has been rebooted, boot id: ${bootId}`,
});

/** Source: pkg/kubelet/nodestatus/setters.go ReadyCondition */
const missingCapacity = (
  capacity: ResourceList,
  { localStorage }: Pick<NodeObjectSettings, 'localStorage'>,
): readonly string[] => {
  const missing = ['cpu', 'memory', 'pods', ...(localStorage ? ['ephemeral-storage'] : [])].filter(
    (resource) => capacity[resource] === undefined,
  );
  return missing.length === 0 ? [] : [`missing node capacity for resources: ${missing.join(', ')}`];
};

/** Devices of which there is no capacity any more cannot be given to pods. */
const withoutGone = (allocatable: ResourceList = {}, capacity: ResourceList): ResourceList =>
  Object.fromEntries(
    Object.entries(allocatable).filter(([name]) => capacity[name] !== undefined || !isExtendedResource(name)),
  );

/** Source: pkg/kubelet/nodestatus/setters.go RuntimeHandlers, pkg/kubelet/runtime.go setRuntimeHandlers: by their names */
const runtimeHandlers = ({ handlers = [] }: RuntimeReport): NonNullable<NodeStatus['runtimeHandlers']> =>
  handlers
    .toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
    .map(({ name, features }) => ({
      // The default one has no name, which the API leaves out.
      ...(name !== '' && { name }),
      features: {
        recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
        userNamespaces: features?.userNamespaces ?? false,
      },
    }));

const withProvidedIp = (metadata: Node['metadata'], settings: NodeObjectSettings): Node['metadata'] => {
  const provided = providedIpAnnotation(settings);
  if (provided === metadata.annotations?.[PROVIDED_IP_ANNOTATION]) return metadata;
  const others = Object.entries(metadata.annotations ?? {}).filter(([key]) => key !== PROVIDED_IP_ANNOTATION);
  const annotations = [...others, ...(provided === undefined ? [] : [[PROVIDED_IP_ANNOTATION, provided] as const])];
  return { ...metadata, annotations: Object.fromEntries(annotations) };
};
