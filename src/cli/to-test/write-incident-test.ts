import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { errorText } from '../../model/cri/cri-error.js';
import { readIncident } from '../../tools/recording/incident/read-incident.js';
import type { RecordingEntry } from '../../tools/recording/entries/recording-entry.js';
import { openRecording } from '../../tools/recording/file/recording-reader.js';
import { incidentTest } from './incident-test.js';

/**
 * Writes the test of a recording, up to a time in milliseconds since its beginning. Returns why there is none, in lines of which the first
 * is the reason; empty if the test was written. Errors: the file cannot be written.
 */
export const writeIncidentTest = (recording: string, test: string, untilMs: number): readonly string[] => {
  const reader = openRecording(recording);
  try {
    const incident = readIncident(reader.header, until(reader.entries, untilMs));
    const made = incidentTest(incident, { recording: basename(recording), by: reader.header.by });
    if (made.kind === 'nothing-to-expect') return [`nothing in the recording can be expected: ${made.because}`];
    if (made.kind === 'does-not-replay')
      return [
        'the recording does not replay in a simulation: something was not recorded, or is not simulated',
        ...made.differences,
      ];
    try {
      writeFileSync(test, made.text, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      throw new Error(`--to-test: ${errorText(error)}`, { cause: error });
    }
    return [];
  } finally {
    reader.close();
  }
};

function* until(entries: Iterable<RecordingEntry>, untilMs: number): Generator<RecordingEntry, void> {
  for (const entry of entries) {
    if ('at' in entry && entry.at > untilMs) return;
    yield entry;
  }
}
