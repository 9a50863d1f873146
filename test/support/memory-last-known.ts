import { concat, defer, EMPTY, type Observable, of } from 'rxjs';
import type { ApiObject } from '../../src/model/kube-api/api-object.js';
import type { LastKnown } from '../../src/streams/ports/last-known.js';

export interface MemoryLastKnown extends LastKnown {
  readonly onDisk: ReadonlyMap<string, ApiObject>;
  /** Every write and removal that was begun. */
  readonly did: readonly string[];
}

/** Objects that outlive an agent, in memory; pods are not kept. `writing$` comes before each write, its errors are the disk's. */
export const memoryLastKnown = (
  before: Readonly<Record<string, ApiObject>> = {},
  writing$: Observable<never> = EMPTY,
): MemoryLastKnown => {
  const onDisk = new Map(Object.entries(before));
  const did: string[] = [];
  const write = (what: string, change: () => void): Observable<never> =>
    defer(() => {
      did.push(what);
      return concat(
        writing$,
        defer(() => {
          change();
          return EMPTY;
        }),
      );
    });
  return {
    ...{ onDisk, did },
    readPods: () => of(undefined),
    writePods: () => EMPTY,
    readObjects: () => defer(() => of(new Map(onDisk))),
    writeObject: (key, object) =>
      write(`write ${key} ${object.metadata.resourceVersion ?? ''}`, () => onDisk.set(key, object)),
    removeObject: (key) => write(`remove ${key}`, () => onDisk.delete(key)),
  };
};
