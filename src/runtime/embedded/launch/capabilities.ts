import type { LinuxContainerSecurityContext } from '../../../generated/runtime/v1/api.js';
import { invalidArgument } from '../runtime-error.js';

/** The capabilities of capabilities(7), in the order of their numbers. */
const KNOWN = new Set(
  (
    'chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable net_bind_service net_broadcast ' +
    'net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin sys_boot sys_nice sys_resource ' +
    'sys_time sys_tty_config mknod lease audit_write audit_control setfcap mac_override mac_admin syslog wake_alarm block_suspend ' +
    'audit_read perfmon bpf checkpoint_restore'
  ).split(' '),
);

/**
 * The bounding set that a container asks for, in the syntax of setpriv(1); undefined for the set of the runtime, which
 * is the default. A dropped capability wins over an added one.
 *
 * Errors: INVALID_ARGUMENT for an unknown capability.
 * Source: containerd's containerSpecOpts.
 */
export const boundingSetOf = (context: LinuxContainerSecurityContext | undefined): string | undefined => {
  if (!context?.capabilities || context.privileged) return undefined;
  const added = context.capabilities.addCapabilities.map((name) => known('add', name));
  const dropped = context.capabilities.dropCapabilities.map((name) => known('drop', name));
  if (!dropped.includes('all')) return dropped.length === 0 ? undefined : dropped.map((name) => `-${name}`).join(',');
  const left = added.filter((name) => name !== 'all' && !dropped.includes(name));
  return ['-all', ...left.map((name) => `+${name}`)].join(',');
};

const known = (what: string, asked: string): string => {
  const name = asked.toLowerCase().replace(/^cap_/, '');
  if (name === 'all' || KNOWN.has(name)) return name;
  throw invalidArgument(`capabilities.${what}: unknown capability "${asked}"`);
};
