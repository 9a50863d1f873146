import { defer, EMPTY, of } from 'rxjs';
import type { PulledRecord } from '../../src/model/images/pulled-record.js';
import type { PullRecords } from '../../src/streams/ports/pull-records.js';

export interface MemoryPullRecords extends PullRecords {
  readonly kept: Map<string, PulledRecord>;
  readonly begun: Set<string>;
  /** What was written and removed, in order. */
  readonly changes: string[];
}

/** Records that live as long as the test. */
export const memoryPullRecords = (): MemoryPullRecords => {
  const kept = new Map<string, PulledRecord>();
  const begun = new Set<string>();
  const changes: string[] = [];
  const change = (what: string, act: () => unknown) =>
    defer(() => {
      changes.push(what);
      act();
      return EMPTY;
    });
  return {
    ...{ kept, begun, changes },
    pulled: (imageRef) => defer(() => of(kept.get(imageRef))),
    everyPulled: () => defer(() => of([...kept.values()])),
    writePulled: (record) => change(`record ${record.imageRef}`, () => kept.set(record.imageRef, record)),
    removePulled: (imageRef) => change(`forget ${imageRef}`, () => kept.delete(imageRef)),
    intents: () => defer(() => of([...begun])),
    writeIntent: (image) => change(`begin ${image}`, () => begun.add(image)),
    removeIntent: (image) => change(`end ${image}`, () => begun.delete(image)),
    hashOf: ({ username, password }) => `hash of ${username}:${password}`,
  };
};
