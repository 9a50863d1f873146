import type { V1AppArmorProfile, V1SeccompProfile } from '@kubernetes/client-node';
import type { Container, Json, PodSpec } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkDescendingPath, checkOneOf, checkRange, checkUnique } from './names.js';
import { validateWindowsOptions } from './validate-windows-options.js';

const MAX_APP_ARMOR_PROFILE = 4095;
/** `MountOption` needs the gate SELinuxMount, which is off. */
const SELINUX_CHANGES = ['Recursive'];
const IDS = [0, 2 ** 31 - 1] as const;
const SYSCTL = /^[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;

/** Source: pkg/apis/core/validation/validation.go ValidatePodSecurityContext. */
export function* validatePodSecurityContext(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  const context = spec.securityContext ?? {};
  yield* validateIds(context, path);
  yield* checkRange(context.fsGroup, IDS, [...path, 'fsGroup']);
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    yield* checkRange(group, IDS, [...path, 'supplementalGroups', index]);
  }
  yield* checkOneOf(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], [...path, 'fsGroupChangePolicy']);
  yield* checkOneOf(context.supplementalGroupsPolicy, ['Merge', 'Strict'], [...path, 'supplementalGroupsPolicy']);
  yield* checkOneOf(context.seLinuxChangePolicy, SELINUX_CHANGES, [...path, 'seLinuxChangePolicy']);
  yield* validateProfiles(context, path);
  yield* validateWindowsOptions(context.windowsOptions, [...path, 'windowsOptions']);
  const sysctls = context.sysctls ?? [];
  yield* checkUnique(
    sysctls.map(({ name }, index) => ({ key: name, path: [...path, 'sysctls', index, 'name'] })),
    'kernel parameter',
  );
  for (const [index, { name }] of sysctls.entries()) {
    const at = [...path, 'sysctls', index, 'name'];
    if (name.length > 253 || !SYSCTL.test(name)) {
      yield issue(at, `is ${JSON.stringify(name)}`, 'a kernel parameter such as net.core.somaxconn');
    }
    const isOfNode =
      (spec.hostNetwork === true && name.startsWith('net.')) ||
      (spec.hostIPC === true && /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(name));
    if (isOfNode)
      yield issue(at, `would change ${name} of the node`, 'no such parameter beside hostNetwork or hostIPC');
  }
}

/** Source: pkg/apis/core/validation/validation.go ValidateSecurityContext. */
export function* validateSecurityContext(
  context: NonNullable<Container['securityContext']>,
  spec: PodSpec,
  path: FieldPath,
): Generator<FieldIssue> {
  yield* validateIds(context, path);
  yield* validateProfiles(context, path);
  yield* validateWindowsOptions(context.windowsOptions, [...path, 'windowsOptions']);
  yield* checkOneOf(context.procMount, ['Default', 'Unmasked'], [...path, 'procMount']);
  if (context.procMount === 'Unmasked' && spec.hostUsers !== false) {
    yield issue([...path, 'procMount'], 'is Unmasked', 'hostUsers: false beside it');
  }
  if (context.allowPrivilegeEscalation !== false) return;
  const at = [...path, 'allowPrivilegeEscalation'];
  if (context.privileged) yield issue(at, 'is false in a privileged container', 'true, or not privileged');
  if (context.capabilities?.add?.some((name) => name === 'SYS_ADMIN' || name === 'CAP_SYS_ADMIN')) {
    yield issue(at, 'is false beside the capability SYS_ADMIN', 'true, or no SYS_ADMIN');
  }
}

interface Ids {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
}

function* validateIds({ runAsUser, runAsGroup }: Ids, path: FieldPath): Generator<FieldIssue> {
  yield* checkRange(runAsUser, IDS, [...path, 'runAsUser']);
  yield* checkRange(runAsGroup, IDS, [...path, 'runAsGroup']);
}

interface Profiles {
  readonly seccompProfile?: Json<V1SeccompProfile>;
  readonly appArmorProfile?: Json<V1AppArmorProfile>;
}

function* validateProfiles(context: Profiles, path: FieldPath): Generator<FieldIssue> {
  for (const field of ['seccompProfile', 'appArmorProfile'] as const) {
    const profile = context[field];
    if (!profile) continue;
    const { type, localhostProfile } = profile;
    yield* checkOneOf(type, ['RuntimeDefault', 'Localhost', 'Unconfined'], [...path, field, 'type']);
    const at = [...path, field, 'localhostProfile'];
    const isMissing = field === 'appArmorProfile' ? !localhostProfile : localhostProfile === undefined;
    if (type === 'Localhost' && isMissing) yield issue(at, 'is missing', 'a profile beside type Localhost');
    if (type !== 'Localhost' && localhostProfile !== undefined)
      yield issue(at, 'only goes with type Localhost', 'type: Localhost');
    if (localhostProfile && field === 'seccompProfile') yield* checkDescendingPath(localhostProfile, at);
    if (localhostProfile && field === 'appArmorProfile') yield* checkAppArmorProfile(localhostProfile, at);
  }
}

/** Source: pkg/apis/core/validation/validation.go ValidateAppArmorProfileField. */
function* checkAppArmorProfile(profile: string, path: FieldPath): Generator<FieldIssue> {
  if (profile.trim() !== profile) yield issue(path, 'begins or ends with a space', 'the name of a profile');
  if (new TextEncoder().encode(profile).length > MAX_APP_ARMOR_PROFILE) {
    yield issue(path, 'is too long', `at most ${MAX_APP_ARMOR_PROFILE} bytes`);
  }
}
