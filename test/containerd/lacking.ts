import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const isThere = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
/** Whether there is a command of that name, or at that path. */
export const isCommand = (name: string): boolean =>
  name.includes('/') ? isThere(name) : folders.some((folder) => isThere(join(folder, name)));

/** What this machine lacks for a real containerd, in words; empty when there is everything. */
export const lackingForContainerd: readonly string[] = [
  ...(process.geteuid?.() === 0 ? [] : ['root']),
  ...['runc', 'busybox', 'ip', 'iptables', 'docker-registry', 'perl'].filter((name) => !isCommand(name)),
  ...(isThere(process.env.CONTAINERD ?? '') || isCommand('containerd') ? [] : ['containerd']),
  ...(['/usr/lib/cni/bridge', '/opt/cni/bin/bridge'].some(isThere) ? [] : ['the CNI plugins']),
];
