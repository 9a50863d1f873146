import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { defer } from 'rxjs';
import type { OomLog } from '../../streams/ports/oom-log.js';

/** A read returns one record, which is never longer. Source: include/linux/printk.h PRINTK_MESSAGE_MAX */
const RECORD_BYTES = 8_192;
const COUNT = /^oom_kill (\d+)$/m;

/** The log of this machine's kernel. */
export const oomLog: OomLog = {
  kills: () => defer(readKills),
  records: () => defer(readRecords),
};

const readKills = async (): Promise<number> => {
  const [, count] = COUNT.exec(await readFile('/proc/vmstat', 'utf8')) ?? [];
  if (count === undefined) throw new Error('/proc/vmstat has no oom_kill');
  return Number(count);
};

const readRecords = async (): Promise<readonly string[]> => {
  const file = await open('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const records: string[] = [];
    for (let record = await next(file); record !== undefined; record = await next(file)) records.push(record);
    return records;
  } finally {
    await file.close();
  }
};

/** Returns the next record; undefined at the end of the log. Those that were overwritten meanwhile are left out. */
const next = async (file: FileHandle): Promise<string | undefined> => {
  const buffer = Buffer.alloc(RECORD_BYTES);
  for (;;) {
    try {
      const { bytesRead } = await file.read(buffer, 0, RECORD_BYTES, null);
      // The lines after the first one are about the device that the record is of.
      return buffer.toString('utf8', 0, bytesRead).split('\n', 1).join('');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') return undefined;
      if (code !== 'EPIPE') throw error;
    }
  }
};
