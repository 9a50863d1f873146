import type { Image } from '../../generated/runtime/v1/api.js';
import { toTimestamp } from '../values/timestamp.js';
import type { MachineFacts } from './machine-facts.js';
import type { ResourceList } from '../resources/resource-list.js';
import type { Node, NodeStatus } from './node.js';
import { chooseAddresses, type LookedUp, providedIpAnnotation } from './node-addresses.js';
import { foldConditions, type NodePressure } from './node-conditions.js';
import { nodeImages } from './node-images.js';
import { allocatableOf, isExtendedResource, machineCapacity } from './node-resources.js';
import type { NodeObjectSettings } from './node-settings.js';
import type { RuntimeReport } from './runtime-report.js';

/** The current facts for the status of a Node. */
export interface NodeStatusFacts {
  readonly machine: MachineFacts;
  readonly lookedUp: LookedUp;
  /** Such as `containerd://1.7.2`; `Unknown` for a version that the runtime does not report. */
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
  /** The problems of the update. The other fields are updated. */
  readonly problems: readonly string[];
}

export const OS = 'linux';
const PROVIDED_IP_ANNOTATION = 'alpha.kubernetes.io/provided-node-ip';
const CONDITION_EVENTS = 'Normal';

/**
 * Returns the Node with its status updated. Fields of other writers stay: conditions, resources, and unknown fields.
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
      // Unknown here, and the field is deprecated: gate DisableNodeKubeProxyVersion.
      kubeProxyVersion: '',
      operatingSystem: OS,
      architecture: machine.architecture,
    },
    daemonEndpoints: { kubeletEndpoint: { Port: settings.serverPort } },
    // The API omits an empty list.
    images: images.length === 0 ? undefined : images,
    runtimeHandlers: handlers.length === 0 ? undefined : handlers,
    features: runtime.features ? { supplementalGroupsPolicy: runtime.features.supplementalGroupsPolicy } : old.features,
    declaredFeatures: settings.declaredFeatures.length === 0 ? undefined : settings.declaredFeatures,
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

/** Returns the events about changed conditions of the node, and about a changed `unschedulable`. */
export const statusEvent = (nodeName: string, reason: string): NodeEvent => ({
  type: CONDITION_EVENTS,
  reason,
  message: `Node ${nodeName} status is now: ${reason}`,
});

const REBOOTED = 'Rebooted';

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

/** Devices without capacity cannot be allocated to pods. */
const withoutGone = (allocatable: ResourceList = {}, capacity: ResourceList): ResourceList =>
  Object.fromEntries(
    Object.entries(allocatable).filter(([name]) => capacity[name] !== undefined || !isExtendedResource(name)),
  );

/** Source: pkg/kubelet/nodestatus/setters.go RuntimeHandlers, pkg/kubelet/runtime.go setRuntimeHandlers: by their names */
const runtimeHandlers = ({ handlers = [] }: RuntimeReport): NonNullable<NodeStatus['runtimeHandlers']> =>
  handlers
    .toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
    .map(({ name, features }) => ({
      // The default handler has no name, which the API omits.
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
