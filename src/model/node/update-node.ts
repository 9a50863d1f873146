import {
  type JsonObject,
  isSameJson,
  NODE_MERGE_KEYS,
  strategicMergePatch,
} from '../kube-api/strategic-merge-patch.js';
import { ARCH_LABEL, OS_LABEL } from './initial-node.js';
import type { Node, NodeCondition } from './node.js';
import type { NodeObjectSettings } from './node-settings.js';
import { foldNodeStatus, type NodeStatusFacts, type NodeStatusFold, OS } from './node-status.js';

/** The fields of a status that an older API server drops, by path. */
export type DroppedField =
  'status.features' | 'status.runtimeHandlers' | 'status.declaredFeatures' | 'status.nodeInfo.swap';

export interface NodeUpdate extends NodeStatusFold {
  /** The update changes more than heartbeats. */
  readonly isChanged: boolean;
}

/**
 * Returns the new Node, and whether it has to be written at once.
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

/** Compares statuses without heartbeats and without the order of conditions. */
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
 * Returns the patch of the `status` subresource that turns `original` into `node`; undefined if nothing differs. It
 * does not change the spec, and replaces the addresses as a whole if they differ, since several may have one type.
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

/** The fields of a write that its reply lacks: a server drops unknown fields. */
export const droppedFields = (sent: Node, answer: Node): readonly DroppedField[] => {
  const of = ({ status }: Node): Readonly<Record<DroppedField, unknown>> => ({
    'status.features': status?.features,
    'status.runtimeHandlers': status?.runtimeHandlers,
    'status.declaredFeatures': status?.declaredFeatures,
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
      ...(dropped.has('status.declaredFeatures') && { declaredFeatures: undefined }),
      ...(dropped.has('status.nodeInfo.swap') &&
        status.nodeInfo && { nodeInfo: { ...status.nodeInfo, swap: undefined } }),
    },
  };
};

const asJson = (node: Node): JsonObject => node as unknown as JsonObject;
