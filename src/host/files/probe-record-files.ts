import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defer, from, ignoreElements } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { readProbeRecords } from '../../model/probes/probe-record.js';
import { replaceFile } from '../../processes/replace-file.js';
import type { Logger } from '../../streams/ports/logger.js';
import type { ProbeRecords } from '../../streams/ports/probe-records.js';

const FILE = 'probe-results.json';

/**
 * Records in one file in the root directory of the agent. The file is replaced as a whole. Entries that are no records
 * are left out, and their count is logged.
 *
 * Errors: Node's own, which name the path; a text that is no list, with the path.
 */
export const probeRecordFiles = (rootDirectory: string, log: Pick<Logger, 'warn'>): ProbeRecords => {
  const path = join(rootDirectory, FILE);
  return {
    read: () =>
      defer(async () => {
        const text = await readFile(path, 'utf8').catch(undefinedIfMissing);
        if (text === undefined) return [];
        const { records, ignored } = parse(text, path);
        if (ignored > 0) log.warn({ path, ignored }, 'cannot read some probe results of an earlier run of the agent');
        return records;
      }),
    write: (records) =>
      defer(() => from(replaceFile(path, `${JSON.stringify(records)}\n`, { mode: 0o600 }))).pipe(ignoreElements()),
  };
};

const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

const parse = (text: string, path: string): ReturnType<typeof readProbeRecords> => {
  try {
    return readProbeRecords(text);
  } catch (error) {
    throw new Error(`${path}: ${errorText(error)}`, { cause: error });
  }
};
