import type { FieldIssue, FieldPath } from './field-issue.js';
import { issue } from './field-issue.js';
import {
  checkOneOf,
  checkRange,
  checkText,
  DNS_LABEL,
  DNS_SUBDOMAIN,
  isQualifiedName,
  QUALIFIED_NAME,
} from './names.js';
import type { PodManifest } from './pod-manifest.js';
import { validateContainers } from './validate-containers.js';
import { validateMetadata } from './validate-metadata.js';
import { validateOs } from './validate-os.js';
import { validatePodNetwork } from './validate-pod-network.js';
import { validatePodAnnotations } from './validate-profile-annotations.js';
import { validatePodResources } from './validate-resources.js';
import { validateScheduling } from './validate-scheduling.js';
import { validatePodSecurityContext } from './validate-security-context.js';
import { validateVolumes } from './validate-volumes.js';

const INT32_MAX = 2 ** 31 - 1;

/**
 * Returns every issue for which the API would refuse the defaulted pod of a manifest.
 *
 * Source: pkg/apis/core/validation/validation.go ValidatePodCreate.
 */
export const validatePod = (pod: PodManifest, path: FieldPath): readonly FieldIssue[] => [
  ...validateMetadata(pod.metadata, [...path, 'metadata']),
  ...validatePodAnnotations(pod, path),
  ...validateSpec(pod, [...path, 'spec']),
];

function* validateSpec({ spec }: PodManifest, path: FieldPath): Generator<FieldIssue> {
  yield* checkOneOf(spec.restartPolicy, ['Always', 'OnFailure', 'Never'], [...path, 'restartPolicy']);
  yield* checkRange(spec.activeDeadlineSeconds, [1, INT32_MAX], [...path, 'activeDeadlineSeconds']);
  yield* checkOneOf(spec.os?.name, ['linux', 'windows'], [...path, 'os', 'name']);
  yield* checkOneOf(spec.preemptionPolicy, ['Never', 'PreemptLowerPriority'], [...path, 'preemptionPolicy']);
  if (spec.ephemeralContainers?.length) {
    yield issue([...path, 'ephemeralContainers'], 'cannot be set in a manifest', 'containers or initContainers');
  }
  if (spec.hostPID && spec.shareProcessNamespace) {
    yield issue([...path, 'shareProcessNamespace'], 'is true beside hostPID', 'only one of the two');
  }
  if (spec.hostUsers === false) {
    for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
      if (spec[field]) yield issue([...path, field], 'is true beside hostUsers: false', 'false');
    }
  }
  if (spec.runtimeClassName !== undefined) {
    yield* checkText(spec.runtimeClassName, DNS_SUBDOMAIN, [...path, 'runtimeClassName']);
  }
  for (const [index, { conditionType }] of (spec.readinessGates ?? []).entries()) {
    if (isQualifiedName(conditionType)) continue;
    const at = [...path, 'readinessGates', index, 'conditionType'];
    yield issue(at, `is ${JSON.stringify(conditionType)}`, QUALIFIED_NAME);
  }
  for (const [index, { name }] of (spec.resourceClaims ?? []).entries()) {
    yield* checkText(name, DNS_LABEL, [...path, 'resourceClaims', index, 'name']);
  }
  yield* validatePodNetwork(spec, path);
  yield* validatePodSecurityContext(spec, [...path, 'securityContext']);
  yield* validateScheduling(spec, path);
  yield* validateOs(spec, path);
  yield* validateVolumes(spec.volumes ?? [], [...path, 'volumes']);
  yield* validatePodResources(spec, path);
  yield* validateContainers(spec, path);
}
