import { resolve } from 'node:path';
import { errorText } from '../../model/cri/cri-error.js';
import type { RecordingEntry } from '../../tools/recording/entries/recording-entry.js';
import { createRecordingFile, type RecordingFile } from '../../tools/recording/file/recording-file.js';
import type { Logger } from '../../streams/ports/logger.js';
import type { RunFlags } from '../arguments/run-flags.js';

/** The disk is full, which is no fault of the path. */
const FULL = ['ENOSPC', 'EDQUOT'];

/**
 * The file of the recording; undefined without `--record`. Errors: the file cannot be created. A full disk is logged,
 * and there is no recording.
 */
export const startRecording = (
  { record, recordMaxSize }: Pick<RunFlags, 'record' | 'recordMaxSize'>,
  log: Logger,
): RecordingFile | undefined => {
  if (record === '') return undefined;
  const path = resolve(record);
  try {
    const lastLine = (reason: string): string => JSON.stringify({ kind: 'cut', reason } satisfies RecordingEntry);
    const recording = createRecordingFile({ path, lastLine, maxBytes: recordMaxSize, log });
    log.info({ file: recording.path }, 'all inputs and actions of the agent are recorded');
    return recording;
  } catch (error) {
    if (!FULL.includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw new Error(`--record: cannot create ${path}: ${errorText(error)}`, { cause: error });
    }
    log.warn({ file: path, error: errorText(error) }, 'there is no space for a recording; the agent runs without one');
    return undefined;
  }
};
