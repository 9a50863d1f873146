import { readdirSync, readlinkSync } from 'node:fs';
import type { OpenFiles } from '../../model/stats/node-sample.js';
import { parseOpenFilesLimit } from '../../model/stats/proc-files.js';
import { readIfThere } from '../read-if-there.js';

/** A pause costs a call of the clock. */
const LINKS_AT_A_TIME = 100;

/**
 * Counts what processes have open, in slices: one process may have a million descriptors. Processes that have ended do not
 * count. Undefined if no process may be looked at.
 *
 * Source: github.com/google/cadvisor container/libcontainer/handler.go processStatsFromProcs
 */
export const openFiles = async (
  proc: string,
  pids: readonly number[],
  pause: () => Promise<void>,
): Promise<OpenFiles | undefined> => {
  let [seen, descriptors, sockets] = [0, 0, 0];
  for (const pid of pids) {
    const directory = `${proc}/${pid}/fd`;
    const names = namesIn(directory);
    if (!names) continue;
    seen += 1;
    descriptors += names.length;
    for (const [index, name] of names.entries()) {
      if (isSocket(`${directory}/${name}`)) sockets += 1;
      if (index % LINKS_AT_A_TIME === LINKS_AT_A_TIME - 1) await pause();
    }
    await pause();
  }
  if (seen === 0) return undefined;
  return { descriptors, sockets, softLimit: parseOpenFilesLimit(readIfThere(`${proc}/${pids[0]}/limits`) ?? '') };
};

const namesIn = (directory: string): readonly string[] | undefined => {
  try {
    return readdirSync(directory);
  } catch {
    return undefined;
  }
};

/** False also for a descriptor that was closed meanwhile. */
const isSocket = (link: string): boolean => {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch {
    return false;
  }
};
