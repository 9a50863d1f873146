import type {
  V1Affinity,
  V1NodeAffinity,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PodAffinityTerm,
} from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkOneOf, checkRange, checkText, DNS_LABEL, DNS_SUBDOMAIN, LABEL_VALUE } from './names.js';
import { checkLabelKey, validateLabelSelector, validateMatchLabelKeys } from './validate-selector.js';

const WEIGHTS = [1, 100] as const;
const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

/** Source: pkg/apis/core/validation/validation.go validateAffinity. */
export function* validateAffinity(
  { nodeAffinity, podAffinity, podAntiAffinity }: Json<V1Affinity>,
  path: FieldPath,
): Generator<FieldIssue> {
  if (nodeAffinity) yield* validateNodeAffinity(nodeAffinity, [...path, 'nodeAffinity']);
  for (const [field, affinity] of Object.entries({ podAffinity, podAntiAffinity })) {
    const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    for (const [index, term] of required.entries()) {
      yield* validatePodTerm(term, [...path, field, 'requiredDuringSchedulingIgnoredDuringExecution', index]);
    }
    const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    for (const [index, { weight, podAffinityTerm }] of preferred.entries()) {
      const at = [...path, field, 'preferredDuringSchedulingIgnoredDuringExecution', index];
      yield* checkRange(weight, WEIGHTS, [...at, 'weight']);
      yield* validatePodTerm(podAffinityTerm, [...at, 'podAffinityTerm']);
    }
  }
}

function* validateNodeAffinity(affinity: Json<V1NodeAffinity>, path: FieldPath): Generator<FieldIssue> {
  const required = affinity.requiredDuringSchedulingIgnoredDuringExecution;
  if (required) {
    const at = [...path, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'];
    if (required.nodeSelectorTerms.length === 0) yield issue(at, 'is empty', 'at least one term');
    for (const [index, term] of required.nodeSelectorTerms.entries()) {
      yield* validateNodeTerm(term, [...at, index], { checksValues: true });
    }
  }
  const preferred = affinity.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  for (const [index, { weight, preference }] of preferred.entries()) {
    const at = [...path, 'preferredDuringSchedulingIgnoredDuringExecution', index];
    yield* checkRange(weight, WEIGHTS, [...at, 'weight']);
    yield* validateNodeTerm(preference, [...at, 'preference'], { checksValues: false });
  }
}

function* validateNodeTerm(
  { matchExpressions = [], matchFields = [] }: Json<V1NodeSelectorTerm>,
  path: FieldPath,
  { checksValues }: { readonly checksValues: boolean },
): Generator<FieldIssue> {
  for (const [index, requirement] of matchExpressions.entries()) {
    const at = [...path, 'matchExpressions', index];
    yield* validateNodeRequirement(requirement, at);
    if (!checksValues) continue;
    for (const [item, value] of (requirement.values ?? []).entries()) {
      yield* checkText(value, LABEL_VALUE, [...at, 'values', item]);
    }
  }
  for (const [index, { key, operator, values = [] }] of matchFields.entries()) {
    const at = [...path, 'matchFields', index];
    yield* checkOneOf(operator, ['In', 'NotIn'], [...at, 'operator']);
    if (values.length !== 1) yield issue([...at, 'values'], `has ${values.length} entries`, 'exactly one value');
    yield* checkOneOf(key, ['metadata.name'], [...at, 'key']);
    for (const [item, value] of values.entries()) yield* checkText(value, DNS_SUBDOMAIN, [...at, 'values', item]);
  }
}

function* validateNodeRequirement(
  { key, operator, values = [] }: Json<V1NodeSelectorRequirement>,
  path: FieldPath,
): Generator<FieldIssue> {
  const at = [...path, 'values'];
  yield* checkOneOf(operator, OPERATORS, [...path, 'operator']);
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    yield issue(at, 'is missing', `at least one value beside ${operator}`);
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    yield issue(at, `is set beside ${operator}`, 'no values');
  }
  if ((operator === 'Gt' || operator === 'Lt') && values.length !== 1) {
    yield issue(at, `has ${values.length} entries`, `exactly one value beside ${operator}`);
  }
  yield* checkLabelKey(key, [...path, 'key']);
}

function* validatePodTerm(term: Json<V1PodAffinityTerm>, path: FieldPath): Generator<FieldIssue> {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term;
  if (labelSelector) yield* validateLabelSelector(labelSelector, [...path, 'labelSelector']);
  if (namespaceSelector) yield* validateLabelSelector(namespaceSelector, [...path, 'namespaceSelector']);
  for (const [index, name] of namespaces.entries()) yield* checkText(name, DNS_LABEL, [...path, 'namespaces', index]);
  yield* validateMatchLabelKeys(term, labelSelector, path);
  if (topologyKey) yield* checkLabelKey(topologyKey, [...path, 'topologyKey']);
  else yield issue([...path, 'topologyKey'], 'is empty', 'the key of a label of nodes');
}
