import { quantity } from '../resources/quantity.js';
import { ATTACH_DETACH_ANNOTATION } from './initial-node.js';
import type { ResourceList } from '../resources/resource-list.js';
import type { Node } from './node.js';
import { isHugePages } from './node-resources.js';

/** The labels that are updated in an existing Node. Source: pkg/kubelet/kubelet_node_status.go updateDefaultLabels */
const DEFAULT_LABELS = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

/**
 * Returns an existing Node with the fields that a starting agent sets: its default labels, the annotation of the attach
 * controller, and the machine's huge pages. All other fields stay, taints and other labels included. Returns the same
 * object if nothing differs.
 *
 * Source: pkg/kubelet/kubelet_node_status.go tryRegisterWithAPIServer
 */
export const reconcileNode = (initial: Node, existing: Node): Node =>
  [reconcileAnnotation, reconcileLabels, reconcileHugePages].reduce(
    (node, reconcile) => reconcile(initial, node),
    existing,
  );

const reconcileAnnotation = (initial: Node, existing: Node): Node => {
  const wanted = initial.metadata.annotations?.[ATTACH_DETACH_ANNOTATION];
  const { [ATTACH_DETACH_ANNOTATION]: known, ...others } = existing.metadata.annotations ?? {};
  if (wanted === known) return existing;
  const annotations = wanted === undefined ? others : { ...others, [ATTACH_DETACH_ANNOTATION]: wanted };
  return { ...existing, metadata: { ...existing.metadata, annotations } };
};

/** An empty label is removed. */
const reconcileLabels = (initial: Node, existing: Node): Node => {
  const wanted = initial.metadata.labels ?? {};
  const known = existing.metadata.labels ?? {};
  const differing = DEFAULT_LABELS.filter(
    (label) => wanted[label] !== undefined && wanted[label] !== (known[label] ?? ''),
  );
  if (differing.length === 0) return existing;
  const changed = { ...known, ...Object.fromEntries(differing.map((label) => [label, wanted[label] ?? ''])) };
  const labels = Object.fromEntries(
    Object.entries(changed).filter(([label, value]) => value !== '' || !differing.includes(label)),
  );
  return { ...existing, metadata: { ...existing.metadata, labels } };
};

const reconcileHugePages = (initial: Node, existing: Node): Node => {
  const capacity = existing.status?.capacity ?? initial.status?.capacity ?? {};
  const allocatable = existing.status?.allocatable ?? initial.status?.allocatable ?? {};
  const next = {
    capacity: withHugePages(capacity, initial.status?.capacity ?? {}),
    allocatable: withHugePages(allocatable, initial.status?.allocatable ?? {}),
  };
  const isSame =
    existing.status?.capacity !== undefined &&
    existing.status.allocatable !== undefined &&
    hasSame(capacity, next.capacity) &&
    hasSame(allocatable, next.allocatable);
  return isSame ? existing : { ...existing, status: { ...existing.status, ...next } };
};

const withHugePages = (known: ResourceList, wanted: ResourceList): ResourceList => ({
  ...Object.fromEntries(Object.entries(known).filter(([name]) => !isHugePages(name))),
  ...Object.fromEntries(Object.entries(wanted).filter(([name]) => isHugePages(name))),
});

const hasSame = (one: ResourceList, other: ResourceList): boolean =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => {
    const [left, right] = [one[name], other[name]];
    return left !== undefined && right !== undefined && quantity(left) === quantity(right);
  });
