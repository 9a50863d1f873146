import type { PodSpec } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkDescendingPath } from './names.js';
import type { PodManifest } from './pod-manifest.js';

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const LOCALHOST = 'localhost/';
/** The value of the annotation for each type of the field. */
const SECCOMP_TYPES: Readonly<Record<string, readonly string[]>> = {
  Unconfined: ['unconfined'],
  RuntimeDefault: ['runtime/default', 'docker/default'],
};
const APP_ARMOR_TYPES: Readonly<Record<string, readonly string[]>> = {
  Unconfined: ['unconfined'],
  RuntimeDefault: ['runtime/default'],
};
const INT32 = [-(2 ** 31), 2 ** 31 - 1] as const;

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string;
}
type Holder = { readonly securityContext?: { readonly seccompProfile?: Profile; readonly appArmorProfile?: Profile } };

/**
 * Validates annotations that the API reads: profiles, which were annotations before they were fields, and the deletion
 * cost.
 *
 * Source: pkg/apis/core/validation/validation.go ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields,
 * validateAppArmorAnnotationsAndFieldsMatchOnCreate.
 */
export function* validatePodAnnotations({ metadata, spec }: PodManifest, path: FieldPath): Generator<FieldIssue> {
  const annotations = metadata.annotations ?? {};
  for (const [key, value] of Object.entries(annotations)) {
    const at = [...path, 'metadata', 'annotations', key];
    if (key === DELETION_COST) yield* checkDeletionCost(value, at);
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) yield* checkSeccomp(value, at);
    if (key.startsWith(APP_ARMOR)) yield* checkAppArmor(key.slice(APP_ARMOR.length), value, spec, at);
  }
  yield* checkSame(annotations[SECCOMP_POD], spec, 'seccompProfile', SECCOMP_TYPES, [...path, 'spec']);
  const isWindows = spec.os?.name === 'windows';
  for (const field of ['initContainers', 'containers'] as const) {
    for (const [index, container] of (spec[field] ?? []).entries()) {
      const at = [...path, 'spec', field, index];
      const seccomp = annotations[`${SECCOMP_CONTAINER}${container.name}`];
      yield* checkSame(seccomp, container, 'seccompProfile', SECCOMP_TYPES, at);
      if (isWindows) continue;
      const holder = container.securityContext?.appArmorProfile ? container : spec;
      yield* checkSame(annotations[`${APP_ARMOR}${container.name}`], holder, 'appArmorProfile', APP_ARMOR_TYPES, at);
    }
  }
}

function* checkDeletionCost(value: string, path: FieldPath): Generator<FieldIssue> {
  // No plus sign, and no leading zero without a sign.
  const isInteger = /^(0|[1-9]\d*|-\d+)$/.test(value) && Number(value) >= INT32[0] && Number(value) <= INT32[1];
  if (!isInteger) yield issue(path, `is ${JSON.stringify(value)}`, 'a whole number of 32 bits');
}

function* checkSeccomp(value: string, path: FieldPath): Generator<FieldIssue> {
  if (Object.values(SECCOMP_TYPES).flat().includes(value)) return;
  if (value.startsWith(LOCALHOST)) yield* checkDescendingPath(value.slice(LOCALHOST.length), path);
  else yield issue(path, `is ${JSON.stringify(value)}`, 'runtime/default, unconfined or localhost/<path>');
}

function* checkAppArmor(container: string, value: string, spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  if (!all.some(({ name }) => name === container)) {
    yield { ...issue(path, 'names no container of the pod', 'the name of a container'), atKey: true };
  }
  if (value === '' || Object.values(APP_ARMOR_TYPES).flat().includes(value) || value.startsWith(LOCALHOST)) return;
  yield issue(path, `is ${JSON.stringify(value)}`, 'runtime/default, unconfined or localhost/<profile>');
}

/** An annotation beside the field has to have the same value. */
function* checkSame(
  annotation: string | undefined,
  { securityContext }: Holder,
  field: 'seccompProfile' | 'appArmorProfile',
  types: Readonly<Record<string, readonly string[]>>,
  path: FieldPath,
): Generator<FieldIssue> {
  const profile = securityContext?.[field];
  if (annotation === undefined || !profile) return;
  const at = [...path, 'securityContext', field];
  const expected = `the same as the annotation, which is ${JSON.stringify(annotation)}`;
  if (profile.type === 'Localhost' && annotation.startsWith(LOCALHOST)) {
    if (annotation.slice(LOCALHOST.length) === profile.localhostProfile) return;
    yield issue([...at, 'localhostProfile'], `is ${JSON.stringify(profile.localhostProfile ?? '')}`, expected);
  } else if (profile.type === 'Localhost' || !(types[profile.type] ?? [annotation]).includes(annotation)) {
    yield issue([...at, 'type'], `is ${profile.type}`, expected);
  }
}
