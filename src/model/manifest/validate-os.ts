import type { PodSpec } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';

const POD_CONTEXT = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const;
const CONTAINER_CONTEXT = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

/**
 * Validates fields of one operating system, if `spec.os.name` names one.
 *
 * Source: pkg/apis/core/validation/validation.go validateLinux, validateWindows, validateWindowsHostProcessPod.
 */
export function* validateOs(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  if (spec.os?.name === 'linux') yield* validateLinux(spec, path);
  if (spec.os?.name === 'windows') yield* validateWindows(spec, path);
  yield* validateHostProcess(spec, path);
}

interface Holder {
  readonly securityContext?: Readonly<Record<string, unknown>> & {
    readonly windowsOptions?: { readonly hostProcess?: boolean };
  };
}

const containersOf = (
  spec: PodSpec,
  path: FieldPath,
): readonly { readonly container: Holder; readonly at: FieldPath }[] =>
  (['initContainers', 'containers'] as const).flatMap((field) =>
    (spec[field] ?? []).map((container, index) => ({ container: container, at: [...path, field, index] })),
  );

function* validateLinux(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  for (const { container, at } of [{ container: spec as Holder, at: path }, ...containersOf(spec, path)]) {
    if (container.securityContext?.windowsOptions) yield wrongOs([...at, 'securityContext', 'windowsOptions'], 'linux');
  }
}

function* validateWindows(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  if (spec.hostUsers !== undefined) yield wrongOs([...path, 'hostUsers'], 'windows');
  if (spec.hostPID) yield wrongOs([...path, 'hostPID'], 'windows');
  if (spec.hostIPC) yield wrongOs([...path, 'hostIPC'], 'windows');
  if (spec.shareProcessNamespace !== undefined) yield wrongOs([...path, 'shareProcessNamespace'], 'windows');
  if (spec.resources) yield wrongOs([...path, 'resources'], 'windows');
  yield* unwanted(spec, POD_CONTEXT, path);
  for (const { container, at } of containersOf(spec, path)) yield* unwanted(container, CONTAINER_CONTEXT, at);
}

function* unwanted(
  { securityContext = {} }: Holder,
  fields: readonly string[],
  path: FieldPath,
): Generator<FieldIssue> {
  for (const field of fields) {
    const value = securityContext[field];
    const isEmptyList = field === 'sysctls' && Array.isArray(value) && value.length === 0;
    if (value !== undefined && !isEmptyList) yield wrongOs([...path, 'securityContext', field], 'windows');
  }
}

const wrongOs = (path: FieldPath, name: string): FieldIssue => ({
  ...issue(path, `does not go with spec.os.name ${name}`, 'another field, or another spec.os.name'),
  atKey: true,
});

function* validateHostProcess(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  const ofPod = (spec as Holder).securityContext?.windowsOptions?.hostProcess;
  let hostProcesses = 0;
  const containers = containersOf(spec, path);
  for (const { container, at } of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      yield issue(
        [...at, 'securityContext', 'windowsOptions', 'hostProcess'],
        `is ${own}`,
        `${ofPod}, the value of the pod`,
      );
    }
    if (own ?? ofPod) hostProcesses += 1;
  }
  if (hostProcesses === 0) return;
  if (hostProcesses !== containers.length) {
    yield issue(path, 'has hostProcess containers beside others', 'hostProcess for all containers, or for none');
  }
  if (!spec.hostNetwork) {
    yield issue([...path, 'hostNetwork'], 'is not true beside hostProcess containers', 'hostNetwork: true');
  }
}
