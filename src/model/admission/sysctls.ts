import type { Pod } from '../pod/pod.js';
import { normalizedSysctl } from '../manifest/sysctl-name.js';
import type { Rejection } from './rejection.js';

/** Kernel parameters that do not affect other pods, with the first kernel of which this is true. */
const SAFE: readonly (readonly [name: string, kernel: string])[] = [
  ['kernel.shm_rmid_forced', ''],
  ['net.ipv4.ip_local_port_range', ''],
  ['net.ipv4.tcp_syncookies', ''],
  ['net.ipv4.ping_group_range', ''],
  ['net.ipv4.ip_unprivileged_port_start', ''],
  ['net.ipv4.ip_local_reserved_ports', '3.16'],
  ['net.ipv4.tcp_keepalive_time', '4.5'],
  ['net.ipv4.tcp_fin_timeout', '4.6'],
  ['net.ipv4.tcp_keepalive_intvl', '4.5'],
  ['net.ipv4.tcp_keepalive_probes', '4.5'],
  ['net.ipv4.tcp_notsent_lowat', '4.6'],
  ['net.ipv4.tcp_slow_start_after_idle', '4.15'],
  ['net.ipv4.tcp_rmem', '4.15'],
  ['net.ipv4.tcp_wmem', '4.15'],
];

const OF_IPC: ReadonlySet<string> = new Set([
  ...['kernel.sem', 'kernel.shmall', 'kernel.shmmax', 'kernel.shmmni', 'kernel.shm_rmid_forced', 'kernel.shm'],
  ...['kernel.msgmax', 'kernel.msgmnb', 'kernel.msgmni', 'kernel.msg'],
]);

/**
 * The parameters that any pod may set. An unknown kernel counts as too old.
 *
 * Source: pkg/kubelet/sysctl/safe_sysctls.go
 */
export const safeSysctls = (kernelVersion: string): readonly string[] =>
  SAFE.filter(([, kernel]) => kernel === '' || isAtLeast(kernelVersion, kernel)).map(([name]) => name);

/**
 * Rejects a pod with a kernel parameter that is neither safe nor allowed, or that would change the node. A pattern ends
 * in `*`.
 *
 * Source: pkg/kubelet/sysctl/allowlist.go
 */
export const sysctlRejection = ({ spec }: Pod, allowed: readonly string[]): Rejection | undefined => {
  for (const { name } of spec.securityContext?.sysctls ?? []) {
    const problem = problemOf(normalizedSysctl(name), allowed.map(normalizedSysctl), spec);
    if (problem !== undefined) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem}` };
  }
  return undefined;
};

/**
 * Returns the problem of a pattern; undefined for a valid one.
 *
 * Source: pkg/kubelet/sysctl/allowlist.go NewAllowlist
 */
export const sysctlPatternProblem = (pattern: string): string | undefined => {
  if (pattern.length > 253 || !PATTERN.test(pattern)) {
    return `sysctl ${JSON.stringify(pattern)} must have at most 253 characters and match regex ${PATTERN.source}`;
  }
  const name = normalizedSysctl(pattern);
  const what = name.endsWith('*') ? 'sysctls' : 'sysctl';
  return namespaceOf(name.replace(/\*$/, ''))
    ? undefined
    : `the ${what} ${JSON.stringify(name)} are not known to be namespaced`;
};

const PATTERN = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*([a-z0-9]([-_a-z0-9]*[a-z0-9])?|([a-z0-9][-_a-z0-9]*)?\*)$/;

const problemOf = (name: string, allowed: readonly string[], spec: Pod['spec']): string | undefined => {
  const by = allowed.find((pattern) => name === pattern) ?? allowed.find((pattern) => isBelow(pattern, name));
  if (by === undefined) return `${JSON.stringify(name)} not allowlisted`;
  // The pattern decides: a name that `kernel.shm*` allows may be one whose namespace is unknown.
  const namespace = namespaceOf(by.replace(/\*$/, ''));
  const isOfNode = (namespace === 'IPC' && spec.hostIPC) || (namespace === 'Net' && spec.hostNetwork);
  return isOfNode ? `${JSON.stringify(name)} not allowed with host ${namespace} enabled` : undefined;
};

const isBelow = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1));

/** Returns the kernel namespace of a parameter. Source: component-helpers/node/util/sysctl/namespace.go */
const namespaceOf = (name: string): 'IPC' | 'Net' | undefined => {
  if (OF_IPC.has(name) || name.startsWith('fs.mqueue.')) return 'IPC';
  return name.startsWith('net.') ? 'Net' : undefined;
};

const isAtLeast = (version: string, least: string): boolean => {
  const numbers = /^\d+(\.\d+)*/.exec(version)?.[0].split('.').map(Number) ?? [];
  const wanted = least.split('.').map(Number);
  const at = wanted.findIndex((number, index) => (numbers[index] ?? 0) !== number);
  return at === -1 || (numbers[at] ?? 0) > wanted[at]!;
};
