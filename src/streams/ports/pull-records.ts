import type { RegistryCredential } from '../../model/images/docker-config.js';
import type { PulledRecord } from '../../model/images/pulled-record.js';
import { EMPTY, type Observable, of } from 'rxjs';

/**
 * The records of pulled images and of pulls that have begun, which survive restarts of the agent. Calls are cold. Errors: a
 * record that cannot be read or written; they name it.
 */
export interface PullRecords {
  /** Emits the record of an image once; undefined if it was not pulled here. */
  readonly pulled: (imageRef: string) => Observable<PulledRecord | undefined>;
  readonly everyPulled: () => Observable<readonly PulledRecord[]>;
  readonly writePulled: (record: PulledRecord) => Observable<never>;
  readonly removePulled: (imageRef: string) => Observable<never>;
  /** The images whose pull has begun, by their names in pods. */
  readonly intents: () => Observable<readonly string[]>;
  readonly writeIntent: (image: string) => Observable<never>;
  readonly removeIntent: (image: string) => Observable<never>;
  /** The hash of a credential in a record. */
  readonly hashOf: (credential: RegistryCredential) => string;
}

/** Keeps no records: every present image counts as present before the agent. */
export const noPullRecords: PullRecords = {
  pulled: () => of(undefined),
  everyPulled: () => of([]),
  writePulled: () => EMPTY,
  removePulled: () => EMPTY,
  intents: () => of([]),
  writeIntent: () => EMPTY,
  removeIntent: () => EMPTY,
  hashOf: () => '',
};
