import type {
  DeepPartial,
  IDMapping,
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
  NamespaceOption,
  SecurityProfile,
  SELinuxOption,
  SupplementalGroupsPolicy,
} from '../../generated/runtime/v1/api.js';
import type { NodeFacts } from '../node/node-facts.js';
import { type Container, containersOf, formatPod, type Pod } from '../pod/pod.js';
import { CreateContainerConfigError } from './create-container-config-error.js';

/** The default user of an image; root if the image names none. */
export interface ImageUser {
  readonly uid?: bigint | undefined;
  readonly username: string;
}

/** The id mappings of a pod with its own user namespace, with the ids outside of it. */
export type UserNamespaceMapping = Readonly<IDMapping>;

export interface NamespaceInput {
  readonly pod: Pod;
  readonly userNamespace?: UserNamespaceMapping | undefined;
  /** The container whose processes an ephemeral container shares. */
  readonly targetId?: string | undefined;
}

/** Source: pkg/kubelet/kuberuntime/util/util.go NamespacesForPod. Errors: a user namespace without a mapping. */
export const namespaceOptions = ({ pod, userNamespace, targetId }: NamespaceInput): DeepPartial<NamespaceOption> => {
  const { hostNetwork, hostIPC, hostPID, hostUsers, shareProcessNamespace } = pod.spec;
  if (hostUsers === false && userNamespace === undefined) {
    throw new CreateContainerConfigError("can't set `spec.hostUsers: false`, runtime does not support user namespaces");
  }
  const pid = hostPID ? 'NODE' : shareProcessNamespace ? 'POD' : targetId === undefined ? 'CONTAINER' : 'TARGET';
  return {
    network: hostNetwork ? 'NODE' : 'POD',
    ipc: hostIPC ? 'NODE' : 'POD',
    pid,
    ...(pid === 'TARGET' && { targetId }),
    usernsOptions:
      hostUsers === false && userNamespace
        ? { mode: 'POD', uids: [{ ...userNamespace }], gids: [{ ...userNamespace }] }
        : { mode: 'NODE' },
  };
};

/**
 * Returns the security context of a sandbox. The profile is always the runtime's default: no process of the pod runs in
 * the sandbox itself. Source: pkg/kubelet/kuberuntime/kuberuntime_sandbox_linux.go.
 */
export const sandboxSecurityContext = (
  pod: Pod,
  userNamespace?: UserNamespaceMapping,
): DeepPartial<LinuxSandboxSecurityContext> => {
  const context = pod.spec.securityContext;
  return {
    privileged: containersOf(pod).some(({ container }) => container.securityContext?.privileged === true),
    seccomp: { profileType: 'RuntimeDefault' },
    namespaceOptions: namespaceOptions({ pod, userNamespace }),
    ...(context && {
      ...(context.runAsUser !== undefined && { runAsUser: { value: BigInt(context.runAsUser) } }),
      ...(context.runAsGroup !== undefined && { runAsGroup: { value: BigInt(context.runAsGroup) } }),
      ...(context.seLinuxOptions && { selinuxOptions: selinux(context.seLinuxOptions) }),
      supplementalGroups: supplementalGroups(pod),
      supplementalGroupsPolicy: groupsPolicy(pod),
    }),
  };
};

export interface ContainerSecurityInput extends NamespaceInput {
  readonly container: Container;
  readonly imageUser: ImageUser;
  readonly node: Pick<NodeFacts, 'seccompDefault' | 'seccompDirectory' | 'thermalThrottlePaths'>;
}

/**
 * Returns the security context of a container: its own fields override those of the pod.
 *
 * Errors: `CreateContainerConfigError` if the container would run as root against `runAsNonRoot`, or for an unknown
 * value.
 * Source: pkg/kubelet/kuberuntime/security_context.go, pkg/securitycontext/util.go.
 */
export const containerSecurityContext = (input: ContainerSecurityInput): DeepPartial<LinuxContainerSecurityContext> => {
  const { pod, container, imageUser, node } = input;
  const own = container.securityContext;
  const ofPod = pod.spec.securityContext;
  const runAsUser = own?.runAsUser ?? ofPod?.runAsUser;
  const runAsGroup = own?.runAsGroup ?? ofPod?.runAsGroup;
  const user = imageUser.uid === undefined && imageUser.username === '' ? { uid: 0n, username: '' } : imageUser;
  if (own?.runAsNonRoot ?? ofPod?.runAsNonRoot) verifyNonRoot(pod, container, runAsUser, user);

  const uid = runAsUser === undefined ? user.uid : BigInt(runAsUser);
  const selinuxOptions = own?.seLinuxOptions ?? ofPod?.seLinuxOptions;
  const apparmor = appArmor(pod, container);
  const isUnmasked = own?.procMount === 'Unmasked';
  return {
    ...(own?.capabilities && {
      capabilities: {
        addCapabilities: [...(own.capabilities.add ?? [])],
        dropCapabilities: [...(own.capabilities.drop ?? [])],
      },
    }),
    privileged: own?.privileged ?? false,
    namespaceOptions: namespaceOptions(input),
    ...(selinuxOptions && { selinuxOptions: selinux(selinuxOptions) }),
    ...(uid === undefined ? { runAsUsername: user.username } : { runAsUser: { value: uid } }),
    ...(runAsGroup !== undefined && { runAsGroup: { value: BigInt(runAsGroup) } }),
    readonlyRootfs: own?.readOnlyRootFilesystem ?? false,
    supplementalGroups: supplementalGroups(pod),
    supplementalGroupsPolicy: groupsPolicy(pod),
    noNewPrivs: own?.allowPrivilegeEscalation === false,
    maskedPaths: isUnmasked ? [] : [...MASKED_PATHS, ...node.thermalThrottlePaths],
    readonlyPaths: isUnmasked ? [] : [...READONLY_PATHS],
    seccomp: seccomp(own?.seccompProfile ?? ofPod?.seccompProfile, node),
    ...apparmor,
  };
};

const verifyNonRoot = (pod: Pod, { name }: Container, runAsUser: number | undefined, image: ImageUser): void => {
  const where = `(pod: "${formatPod(pod)}", container: ${name})`;
  const fail = (text: string) => new CreateContainerConfigError(`${text} ${where}`);
  if (runAsUser !== undefined) {
    if (runAsUser === 0) throw fail("container's runAsUser breaks non-root policy");
    return;
  }
  if (image.uid === undefined) {
    throw fail(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root`,
    );
  }
  if (image.uid === 0n) throw fail('container has runAsNonRoot and image will run as root');
  if (image.uid > 2_147_483_647n) throw fail(`container has runAsNonRoot and image has invalid user id ${image.uid}`);
};

const supplementalGroups = ({ spec: { securityContext } }: Pod): bigint[] =>
  [
    ...(securityContext?.fsGroup === undefined ? [] : [securityContext.fsGroup]),
    ...(securityContext?.supplementalGroups ?? []),
  ].map(BigInt);

const groupsPolicy = ({ spec }: Pod): SupplementalGroupsPolicy => {
  const policy = spec.securityContext?.supplementalGroupsPolicy ?? 'Merge';
  if (policy === 'Merge' || policy === 'Strict') return policy;
  throw new CreateContainerConfigError(`unsupported supplementalGroupsPolicy: ${policy}`);
};

const selinux = ({ user, role, type, level }: Partial<SELinuxOption>): SELinuxOption => ({
  user: user ?? '',
  role: role ?? '',
  type: type ?? '',
  level: level ?? '',
});

interface Profile {
  readonly type: string;
  readonly localhostProfile?: string;
}

const seccomp = (
  profile: Profile | undefined,
  { seccompDefault, seccompDirectory }: Pick<NodeFacts, 'seccompDefault' | 'seccompDirectory'>,
): DeepPartial<SecurityProfile> => {
  switch (profile?.type) {
    case undefined:
      return { profileType: seccompDefault ? 'RuntimeDefault' : 'Unconfined' };
    case 'RuntimeDefault':
      return { profileType: 'RuntimeDefault' };
    case 'Localhost':
      if (profile?.localhostProfile) {
        return { profileType: 'Localhost', localhostRef: `${seccompDirectory}/${profile.localhostProfile}` };
      }
      throw new CreateContainerConfigError('localhostProfile must be set if seccompProfile type is Localhost');
    case 'Unconfined':
      return { profileType: 'Unconfined' };
    default:
      // A kubelet before 1.38 takes it for Unconfined.
      throw new CreateContainerConfigError(`unknown seccompProfile type ${JSON.stringify(profile?.type)}`);
  }
};

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/**
 * Returns the field and its deprecated text form, for runtimes that read only one. Source:
 * pkg/security/apparmor/helpers.go.
 */
const appArmor = (
  pod: Pod,
  { name, securityContext }: Container,
): Pick<DeepPartial<LinuxContainerSecurityContext>, 'apparmor' | 'apparmorProfile'> => {
  const annotation = pod.metadata.annotations?.[`${APPARMOR_ANNOTATION}${name}`];
  const profile: Profile | undefined =
    securityContext?.appArmorProfile ??
    (annotation === undefined ? undefined : annotatedAppArmor(annotation)) ??
    pod.spec.securityContext?.appArmorProfile;
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { apparmor: { profileType: 'RuntimeDefault' }, apparmorProfile: 'runtime/default' };
    case 'Unconfined':
      return { apparmor: { profileType: 'Unconfined' }, apparmorProfile: 'unconfined' };
    case 'Localhost':
      return {
        apparmor: { profileType: 'Localhost', localhostRef: profile?.localhostProfile ?? '' },
        apparmorProfile: `localhost/${profile?.localhostProfile ?? ''}`,
      };
    default:
      return {};
  }
};

const annotatedAppArmor = (text: string): Profile | undefined => {
  if (text === 'runtime/default') return { type: 'RuntimeDefault' };
  if (text === 'unconfined') return { type: 'Unconfined' };
  return text.startsWith('localhost/')
    ? { type: 'Localhost', localhostProfile: text.slice('localhost/'.length) }
    : undefined;
};

/** Source: pkg/securitycontext/util.go defaultMaskedPaths, defaultReadonlyPaths. */
const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];
