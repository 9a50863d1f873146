import type { V1TopologySpreadConstraint } from '@kubernetes/client-node';
import type { Json, PodSpec } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkOneOf, checkRange, checkText, DNS_SUBDOMAIN } from './names.js';
import { validateAffinity } from './validate-affinity.js';
import { validateLabels } from './validate-metadata.js';
import { validateLabelSelector, validateMatchLabelKeys } from './validate-selector.js';
import { validateTolerations } from './validate-tolerations.js';

const POSITIVE = [1, 2 ** 31 - 1] as const;

/**
 * Validates the fields for a scheduler. A pod of a manifest has its node already; but the API refuses its mirror pod
 * for the same mistakes.
 *
 * Source: pkg/apis/core/validation/validation.go ValidatePodSpec, ValidatePodCreate.
 */
export function* validateScheduling(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  yield* validateLabels(spec.nodeSelector ?? {}, [...path, 'nodeSelector']);
  if (spec.affinity) yield* validateAffinity(spec.affinity, [...path, 'affinity']);
  yield* validateTolerations(spec.tolerations ?? [], [...path, 'tolerations']);
  yield* validateSpread(spec.topologySpreadConstraints ?? [], [...path, 'topologySpreadConstraints']);
  if (spec.priorityClassName) yield* checkText(spec.priorityClassName, DNS_SUBDOMAIN, [...path, 'priorityClassName']);
  if (spec.schedulingGates?.length) {
    yield issue([...path, 'schedulingGates'], 'blocks a pod that is on its node already', 'no scheduling gates');
  }
  yield* validateSchedulingGroup(spec as SchedulingGroupHolder, [...path, 'schedulingGroup']);
}

/** The types of the client library do not have this field yet. */
interface SchedulingGroupHolder {
  readonly schedulingGroup?: { readonly podGroupName?: string };
}

/** Source: pkg/apis/core/validation/validation.go validateSchedulingGroup. */
function* validateSchedulingGroup({ schedulingGroup }: SchedulingGroupHolder, path: FieldPath): Generator<FieldIssue> {
  if (!schedulingGroup) return;
  const at = [...path, 'podGroupName'];
  if (schedulingGroup.podGroupName === undefined) yield issue(at, 'is missing', 'the name of a group of pods');
  else yield* checkText(schedulingGroup.podGroupName, DNS_SUBDOMAIN, at);
}

/** Source: pkg/apis/core/validation/validation.go validateTopologySpreadConstraints. */
function* validateSpread(
  constraints: readonly Json<V1TopologySpreadConstraint>[],
  path: FieldPath,
): Generator<FieldIssue> {
  const last = new Map(constraints.map((constraint, index) => [pairOf(constraint), index]));
  for (const [index, constraint] of constraints.entries()) {
    const at = [...path, index];
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains, labelSelector } = constraint;
    yield* checkRange(maxSkew, POSITIVE, [...at, 'maxSkew']);
    if (!topologyKey) yield issue([...at, 'topologyKey'], 'is empty', 'the key of a label of nodes');
    yield* checkOneOf(whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway'], [...at, 'whenUnsatisfiable']);
    if (last.get(pairOf(constraint)) !== index) {
      yield issue(at, `is ${topologyKey}, ${whenUnsatisfiable} a second time`, 'a different pair of them for each');
    }
    yield* checkRange(minDomains, POSITIVE, [...at, 'minDomains']);
    if (minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule') {
      yield issue([...at, 'minDomains'], `is set beside ${whenUnsatisfiable}`, 'whenUnsatisfiable: DoNotSchedule');
    }
    for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      yield* checkOneOf(constraint[field], ['Ignore', 'Honor'], [...at, field]);
    }
    yield* validateMatchLabelKeys(constraint, labelSelector, at);
    if (labelSelector) yield* validateLabelSelector(labelSelector, [...at, 'labelSelector']);
  }
}

const pairOf = ({ topologyKey, whenUnsatisfiable }: Json<V1TopologySpreadConstraint>): string =>
  JSON.stringify([topologyKey, whenUnsatisfiable]);
