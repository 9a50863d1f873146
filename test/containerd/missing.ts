import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';

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
export const missing: readonly string[] = [
  ...(process.geteuid?.() === 0 ? [] : ['root']),
  ...['runc', 'busybox', 'ip', 'iptables', 'docker-registry', 'perl'].filter((name) => !isCommand(name)),
  ...(isThere(process.env.CONTAINERD ?? '') || isCommand('containerd') ? [] : ['containerd']),
  ...(['/usr/lib/cni/bridge', '/opt/cni/bin/bridge'].some(isThere) ? [] : ['the CNI plugins']),
];

/** A test with a containerd of its own also waits for that and for its agent, beside others that do the same. */
const TIMEOUT_MS = 240_000;

/**
 * Tests over a real containerd, at the same time as others of the file unless they are alone. Where there cannot be one they are
 * skipped, and that is said; in CI they fail instead.
 */
export const overContainerd = (name: string, tests: () => void, { alone = false } = {}): void => {
  if (missing.length === 0 || process.env.CI === 'true') {
    const how = alone ? describe.sequential : describe.concurrent;
    how(`over containerd, ${name}`, { timeout: TIMEOUT_MS }, tests);
    return;
  }
  console.warn(`SKIPPED, not tested over a real containerd: ${name}. Missing: ${missing.join(', ')}.`);
  describe.skip(`over containerd, ${name} (skipped; missing: ${missing.join(', ')})`, tests);
};
