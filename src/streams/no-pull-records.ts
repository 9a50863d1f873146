import { EMPTY, of } from 'rxjs';
import type { PullRecords } from './ports.js';

/** Remembers nothing of what was pulled: every image that is there counts as one that was there before the agent. */
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
