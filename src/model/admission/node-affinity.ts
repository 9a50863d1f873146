import type { V1NodeSelectorRequirement, V1NodeSelectorTerm } from '@kubernetes/client-node';
import type { Json, PodSpec } from '../pod/pod.js';

export interface SelectableNode {
  /** Absent if the node has no name to select. */
  readonly name?: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Whether the node matches the pod's `nodeSelector` and required affinity.
 *
 * Source: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go
 */
export const selectsNode = ({ nodeSelector = {}, affinity }: PodSpec, { name, labels }: SelectableNode): boolean => {
  if (Object.entries(nodeSelector).some(([key, value]) => labels[key] !== value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!required) return true;
  const fields: Readonly<Record<string, string>> = name === undefined ? {} : { 'metadata.name': name };
  return required.nodeSelectorTerms.some((term) => matchesTerm(term, labels, fields));
};

/** A term without requirements selects no node. */
const matchesTerm = (
  { matchExpressions = [], matchFields = [] }: Json<V1NodeSelectorTerm>,
  labels: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, string>>,
): boolean =>
  matchExpressions.length + matchFields.length > 0 &&
  matchExpressions.every((requirement) => matches(requirement, labels)) &&
  matchFields.every((requirement) => matches(requirement, fields));

const matches = (
  { key, operator, values = [] }: Json<V1NodeSelectorRequirement>,
  labels: Readonly<Record<string, string>>,
): boolean => {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      const [limit] = values;
      if (value === undefined || limit === undefined || ![value, limit].every((text) => INTEGER.test(text)))
        return false;
      return operator === 'Gt' ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit);
    }
    default:
      return false;
  }
};

/** A number with as many digits as 64 bits have: the API has no other, and millions of digits take seconds to read. */
const INTEGER = /^-?0*\d{1,19}$/;
