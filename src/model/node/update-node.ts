import { type JsonObject, isSameJson, NODE_MERGE_KEYS, strategicMergePatch } from '../api/strategic-merge-patch.js';
import { ARCH_LABEL, OS_LABEL } from './initial-node.js';
import type { Node, NodeCondition } from './node.js';
import type { NodeObjectSettings } from './node-settings.js';
import { foldNodeStatus, type NodeStatusFacts, type NodeStatusFold, OS } from './node-status.js';

/** What an older API server does not keep of a status, by its path. */
export type DroppedField = 'status.features' | 'status.runtimeHandlers' | 'status.nodeInfo.swap';

export interface NodeUpdate extends NodeStatusFold {
  /** There is more to tell than another heartbeat. */
  readonly isChanged: boolean;
}

/**
 * What the Node has to become, and whether that is worth a write at once.
 *
 * Source: pkg/kubelet/kubelet_node_status.go updateNode, nodeStatusHasChanged
 */
export const updateNode = (
  original: Node,
  settings: NodeObjectSettings,
  facts: NodeStatusFacts,
  dropped: ReadonlySet<DroppedField> = new Set(),
): NodeUpdate => {
  const { architecture } = facts.machine;
  const { labels = {} } = original.metadata;
  const hasLabels = labels[OS_LABEL] === OS && labels[ARCH_LABEL] === architecture;
  const labelled: Node = hasLabels
    ? original
    : {
        ...original,
        metadata: { ...original.metadata, labels: { ...labels, [OS_LABEL]: OS, [ARCH_LABEL]: architecture } },
      };
  const fold = foldNodeStatus(labelled, settings, facts);
  const node = without(fold.node, dropped);
  return { ...fold, node, isChanged: !hasLabels || hasStatusChanged(original, node) };
};

/** Heartbeats are no change, and neither is the order of conditions. */
const hasStatusChanged = (before: Node, after: Node): boolean => {
  const [{ conditions: had = [], ...rest }, { conditions: has = [], ...others }] = [
    before.status ?? {},
    after.status ?? {},
  ];
  return !isSameJson(byType(had), byType(has)) || !isSameJson(rest, others);
};

const byType = (conditions: readonly NodeCondition[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(conditions.map(({ lastHeartbeatTime: _, ...condition }) => [condition.type, condition]));

/**
 * The patch of the `status` subresource that makes `node` of `original`; undefined when there is nothing to say. It leaves the spec
 * alone, and replaces the addresses as a whole where they differ, since there may be several of one type.
 *
 * Source: staging/src/k8s.io/component-helpers/node/util/status.go preparePatchBytesforNodeStatus
 */
export const nodeStatusPatch = (original: Node, node: Node): JsonObject | undefined => {
  const had = original.status?.addresses ?? [];
  const has = node.status?.addresses ?? [];
  const replacesAddresses = had.length > 0 && !isSameJson(had, has);
  const aimed: Node = {
    ...node,
    spec: original.spec,
    ...(replacesAddresses && { status: { ...node.status, addresses: had } }),
  };
  const patch = strategicMergePatch(asJson(original), asJson(aimed), NODE_MERGE_KEYS);
  if (!replacesAddresses) return patch;
  const status = (patch?.status ?? {}) as JsonObject;
  return { ...patch, status: { ...status, addresses: [...has, { $patch: 'replace' }] } };
};

/** What was sent and is not in the answer: a server that does not know a field leaves it out. */
export const droppedFields = (sent: Node, answer: Node): readonly DroppedField[] => {
  const of = ({ status }: Node): Readonly<Record<DroppedField, unknown>> => ({
    'status.features': status?.features,
    'status.runtimeHandlers': status?.runtimeHandlers,
    'status.nodeInfo.swap': status?.nodeInfo?.swap,
  });
  const [asked, kept] = [of(sent), of(answer)];
  return (Object.keys(asked) as readonly DroppedField[]).filter(
    (field) => asked[field] !== undefined && kept[field] === undefined,
  );
};

const without = (node: Node, dropped: ReadonlySet<DroppedField>): Node => {
  const { status } = node;
  if (dropped.size === 0 || !status) return node;
  return {
    ...node,
    status: {
      ...status,
      ...(dropped.has('status.features') && { features: undefined }),
      ...(dropped.has('status.runtimeHandlers') && { runtimeHandlers: undefined }),
      ...(dropped.has('status.nodeInfo.swap') &&
        status.nodeInfo && { nodeInfo: { ...status.nodeInfo, swap: undefined } }),
    },
  };
};

const asJson = (node: Node): JsonObject => node as unknown as JsonObject;
