import { type Dir, opendirSync, readlinkSync } from 'node:fs';
import type { OpenFiles } from '../../model/stats/node-sample.js';
import { parseOpenFilesLimit } from '../../model/stats/proc-files.js';
import { readIfThere } from '../files/read-if-there.js';

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
    const links = linksIn(directory);
    if (!links) continue;
    seen += 1;
    try {
      let read = 0;
      for (let link = links.readSync(); link !== null; link = links.readSync()) {
        if (isSocket(`${directory}/${link.name}`)) sockets += 1;
        read += 1;
        if (read % LINKS_AT_A_TIME === 0) await pause();
      }
      descriptors += read;
    } finally {
      links.closeSync();
    }
    await pause();
  }
  if (seen === 0) return undefined;
  return { descriptors, sockets, softLimit: parseOpenFilesLimit(readIfThere(`${proc}/${pids[0]}/limits`) ?? '') };
};

const linksIn = (directory: string): Dir | undefined => {
  try {
    return opendirSync(directory, { bufferSize: LINKS_AT_A_TIME });
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
