import { join } from 'node:path';
import { readIfThere } from '../files/read-if-there.js';

/** The label of each process until the machine has loaded a policy. */
const NO_POLICY = 'kernel';

/**
 * Whether the machine has SELinux enabled: its file system is mounted and writable, and a policy is loaded. The policy need
 * not be enforced. An agent in a container without a writable `selinuxfs` counts the machine as one without SELinux, as upstream does.
 *
 * Source: vendor/github.com/opencontainers/selinux/go-selinux/selinux_linux.go getEnabled
 */
export const hasSelinux = (proc = '/proc'): boolean => {
  const mountInfo = readIfThere(join(proc, 'self', 'mountinfo')) ?? '';
  if (!mountInfo.split('\n').some(isWritableSelinux)) return false;
  const label = readIfThere(join(proc, 'thread-self', 'attr', 'current')) ?? '';
  return label.replaceAll('\0', '').trim() !== NO_POLICY;
};

/** Fields up to the mount's options, optional fields, a dash, then type, source and the options of the file system. */
const isWritableSelinux = (line: string): boolean => {
  const fields = line.split(' ');
  const dash = fields.indexOf('-', 6);
  if (dash < 0 || fields[dash + 1] !== 'selinuxfs') return false;
  return ![fields[5], fields[dash + 3]].some((options) => options?.split(',').includes('ro'));
};
