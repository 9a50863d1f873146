import type { ProbeRecord } from '../../model/probes/probe-record.js';
import { EMPTY, type Observable, of } from 'rxjs';

/** The records of probes, which survive restarts of the agent. Calls are cold. */
export interface ProbeRecords {
  /** Emits once the records of the last write; none if there was no write. Errors: they cannot be read; the caller then has none. */
  readonly read: () => Observable<readonly ProbeRecord[]>;
  /** Replaces all records at once, or changes nothing and fails. */
  readonly write: (records: readonly ProbeRecord[]) => Observable<never>;
}

/** Keeps no records across restarts of the agent. */
export const noProbeRecords: ProbeRecords = { read: () => of([]), write: () => EMPTY };
