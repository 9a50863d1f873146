import type { Cgroup } from './cgroup.js';
import { delayMs } from './clock.js';
import { markedProcesses, sendSignal } from './process-tree.js';

/** How all processes of a container, and only they, are found again. */
export interface Confinement {
  /** Shell lines with which a process puts itself and all its descendants in. */
  readonly joinScript: string;
  readonly pids: () => number[];
  readonly kill: () => void;
  readonly remove: () => void;
}

export const cgroupConfinement = (cgroup: Cgroup): Confinement => ({
  joinScript: cgroup.joinScript(),
  pids: () => cgroup.pids(),
  kill: () => cgroup.kill(),
  remove: () => cgroup.remove(),
});

/** Without cgroups: by the mark (see `markedProcesses`). `markCommand` is the shell's `ulimit` that sets it. */
export const markConfinement = (mark: string, markCommand: string | undefined): Confinement => ({
  joinScript: markCommand === undefined ? ':' : `${markCommand} ${mark}`,
  pids: () => markedProcesses(mark),
  kill: () => {
    for (const pid of markedProcesses(mark)) sendSignal(pid, 'SIGKILL');
  },
  remove: () => undefined,
});

/** Kills until nobody is left. False when something survived `deadlineMs`, which only an uninterruptible process does. */
export const killAll = async ({ pids, kill }: Confinement, deadlineMs = 10_000): Promise<boolean> => {
  let waitedMs = 0;
  for (let stepMs = 1; pids().length > 0; stepMs = Math.min(stepMs * 2, 50)) {
    if (waitedMs >= deadlineMs) return false;
    kill();
    await delayMs(stepMs);
    waitedMs += stepMs;
  }
  return true;
};
