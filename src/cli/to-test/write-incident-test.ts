import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { errorText } from '../../model/cri-error.js';
import { readIncident } from '../../recording/incident/read-incident.js';
import type { RecordingEntry } from '../../recording/recording-entry.js';
import { openRecording } from '../../recording/recording-reader.js';
import { incidentTest } from './incident-test.js';

/** Writes the test of a recording, up to a time in milliseconds since its beginning. Errors: the file cannot be written. */
export const writeIncidentTest = (recording: string, test: string, untilMs: number): void => {
  const reader = openRecording(recording);
  try {
    const incident = readIncident(reader.header, until(reader.entries, untilMs));
    const text = incidentTest(incident, { recording: basename(recording), by: reader.header.by });
    try {
      writeFileSync(test, text, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      throw new Error(`--to-test: ${errorText(error)}`, { cause: error });
    }
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
