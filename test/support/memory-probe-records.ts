import { defer, EMPTY, of } from 'rxjs';
import type { ProbeRecord } from '../../src/model/probes/probe-record.js';
import type { ProbeRecords } from '../../src/streams/ports/probe-records.js';

/** Records that outlive an agent but not the test; `written` gets each of them. */
export const memoryProbeRecords = (written: ProbeRecord[][] = []): ProbeRecords => ({
  read: () => defer(() => of(written.at(-1) ?? [])),
  write: (records) =>
    defer(() => {
      written.push([...records]);
      return EMPTY;
    }),
});
