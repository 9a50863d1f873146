import type { Cgroup } from './cgroup.js';
import { checkDelayMs, delayMs } from '../machine/clock.js';
import { isShortage } from '../machine/machine.js';
import { markedProcesses, sendSignal } from './process-tree.js';

/** Finds all processes of a container, and no others. */
export interface Confinement {
  /** Shell lines that confine a process and all its descendants. */
  readonly joinScript: string;
  readonly pids: () => number[];
  readonly kill: () => void;
  /** Resolves when its groups are removed, or cannot be removed now. */
  readonly remove: () => Promise<void>;
}

export const cgroupConfinement = (cgroup: Cgroup): Confinement => ({
  get joinScript() {
    return cgroup.joinScript();
  },
  pids: () => cgroup.pids(),
  kill: () => cgroup.kill(),
  remove: () => cgroup.remove(),
});

/**
 * The confinement without cgroups, by the mark (see `markedProcesses`). `markCommand` is the shell's `ulimit` that sets
 * it.
 */
export const markConfinement = (mark: string, markCommand: string | undefined): Confinement => ({
  joinScript: markCommand === undefined ? ':' : `${markCommand} ${mark}`,
  pids: () => markedProcesses(mark),
  kill: () => {
    for (const pid of markedProcesses(mark)) sendSignal(pid, 'SIGKILL');
  },
  remove: () => Promise.resolve(),
});

/**
 * Kills until no process is left. Returns false if a process survives `deadlineMs`; only an uninterruptible process
 * does. Errors: the processes could not be read until the deadline.
 */
export const killAll = async ({ pids, kill }: Confinement, deadlineMs = 10_000): Promise<boolean> => {
  let waitedMs = 0;
  for (let check = 1; ; check += 1) {
    try {
      if (pids().length === 0) return true;
      if (waitedMs >= deadlineMs) return false;
      kill();
    } catch (error) {
      if (!isShortage(error) || waitedMs >= deadlineMs) throw error;
    }
    await delayMs(checkDelayMs(check));
    waitedMs += checkDelayMs(check);
  }
};
