import { normalizedSysctl } from '../manifest/sysctl-name.js';
import type { PodSpec } from '../pod/pod.js';

/** Values of kernel parameters by their names. */
export type Sysctls = Readonly<Record<string, string>>;

/** The namespace of the kernel to which a parameter of a pod belongs. */
type SysctlNamespace = 'ipc' | 'net' | 'user' | 'uts';

/**
 * Returns the default kernel parameters of a new sandbox, by normalized names: those whose namespace the pod does not share with
 * the node. An unset `hostUsers` means the users of the node.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_sandbox_linux.go applyPodSysctls
 */
export const defaultSysctls = (defaults: Sysctls, { hostIPC, hostNetwork, hostUsers }: PodSpec): Sysctls => {
  const isShared: Readonly<Record<SysctlNamespace, boolean>> = {
    ipc: hostIPC ?? false,
    net: hostNetwork ?? false,
    uts: hostNetwork ?? false,
    user: hostUsers ?? true,
  };
  return Object.fromEntries(
    Object.entries(defaults)
      .map(([name, value]) => [normalizedSysctl(name), value] as const)
      .filter(([name]) => {
        const namespace = namespaceOf(name);
        return namespace !== undefined && !isShared[namespace];
      }),
  );
};

/**
 * Returns the problems of the names of default parameters: each has to be valid, to have a namespace, and to occur once.
 *
 * Source: pkg/kubelet/apis/config/validation/validation.go
 */
export const defaultSysctlProblems = (names: readonly string[]): readonly string[] => {
  const known = new Map<string, string>();
  return names.flatMap((name) => {
    const at = `defaultPodSysctls[${JSON.stringify(name)}]`;
    if (name.length > 253 || !NAME.test(name)) {
      return [`${at} is not the name of a kernel parameter, expected one such as "net.core.somaxconn"`];
    }
    const normalized = normalizedSysctl(name);
    if (!namespaceOf(normalized)) {
      return [`${at} has no namespace, so that a pod cannot have a value of its own, expected ${NAMED}`];
    }
    const other = known.get(normalized);
    known.set(normalized, name);
    return other === undefined ? [] : [`${at} is the same parameter as ${JSON.stringify(other)}, expected it once`];
  });
};

const NAMED = 'one of net.*, kernel.sem, kernel.msg*, kernel.shm*, fs.mqueue.*, user.* or kernel.domainname';

/** Source: pkg/apis/core/validation/validation.go SysctlContainSlashFmt */
const NAME = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;

const NAMESPACES: readonly (readonly [pattern: RegExp, namespace: SysctlNamespace])[] = [
  [/^(kernel\.sem$|kernel\.(msg|shm)|fs\.mqueue\.)/, 'ipc'],
  [/^net\./, 'net'],
  [/^user\./, 'user'],
  [/^kernel\.domainname$/, 'uts'],
];

const namespaceOf = (name: string): SysctlNamespace | undefined =>
  NAMESPACES.find(([pattern]) => pattern.test(name))?.[1];
