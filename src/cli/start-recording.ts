import { resolve } from 'node:path';
import { errorText } from '../model/cri-error.js';
import type { RecordingEntry } from '../recording/recording-entry.js';
import { createRecordingFile, type RecordingFile } from '../recording/recording-file.js';
import type { Logger } from '../streams/ports.js';
import type { RunFlags } from './run-flags.js';

/** A disk that is full, rather than a path that is wrong. */
const FULL = ['ENOSPC', 'EDQUOT'];

/**
 * The file of the recording that was asked for, if one was. Errors: the file cannot be made; a full disk is said in the log, and then
 * there is no recording.
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
    log.info({ file: recording.path }, 'what the agent sees and does is recorded');
    return recording;
  } catch (error) {
    if (!FULL.includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw new Error(`--record: ${path} cannot be made: ${errorText(error)}`, { cause: error });
    }
    log.warn(
      { file: path, error: errorText(error) },
      'there is no room for a recording; the agent goes on without one',
    );
    return undefined;
  }
};
