import { defer, EMPTY, ignoreElements, type Observable, of, throwError, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Volume } from '../../../src/model/manifest/volume-defaults.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { VolumePayload } from '../../../src/model/volumes/volume-payload.js';
import type { VolumeFiles } from '../../../src/streams/ports/volume-files.js';
import { SettledVolumes } from '../../../src/model/volumes/settled-volumes.js';
import { volumeOperations } from '../../../src/streams/volumes/volume-operations.js';
import { only } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const SETTINGS: Volume = { name: 'settings', configMap: { name: 'settings', defaultMode: 0o644 } };
const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [], volumes: [SETTINGS] },
};

interface Answers {
  readonly setUp: Observable<'made' | 'there'>;
  readonly content?: Observable<VolumePayload>;
  readonly write?: Observable<'changed' | 'unchanged'>;
}

/** Sets `SETTINGS` up, with 10 ms for each step that takes a volume down; returns the steps, and how they ended. */
const history = (
  scheduler: TestScheduler,
  { setUp, content = of<VolumePayload>(new Map()), write }: Answers,
): readonly string[] => {
  const said: string[] = [];
  const say = (what: string): void => void said.push(`${scheduler.now()} ${what}`);
  const step = <T>(what: string, answer$: Observable<T>): Observable<T> =>
    defer(() => {
      say(what);
      return answer$;
    });
  const down = (what: string) => () => step(what, timer(10, scheduler).pipe(ignoreElements()));
  const operations = volumeOperations({
    volumeFiles: only<VolumeFiles>({
      setUp: () => step('set up', setUp),
      write: () => step('write', write ?? of('changed')),
      unbindSubPaths: down('unbind'),
      tearDown: down('take down'),
    }),
    node: () => ({ rootDirectory: '/root', allocatable: {}, hasTmpfsNoswap: true }),
    content: () => content,
    settled: new SettledVolumes(),
    now: () => scheduler.now(),
  });
  operations.setUp(POD, SETTINGS).subscribe({
    complete: () => say('done'),
    error: (error: unknown) => say((error as Error).message),
  });
  scheduler.flush();
  return said;
};

const failing = (message: string): Observable<never> => throwError(() => new Error(message));

describe('a volume whose files cannot be written', () => {
  it(
    'is taken down if it was made for them, before the failure is known',
    marbles(({ scheduler }) => {
      expect(history(scheduler, { setUp: of('made'), write: failing('ENOSPC') })).toEqual([
        '0 set up',
        '0 write',
        '0 unbind',
        '10 take down',
        '20 ENOSPC',
      ]);
    }),
  );

  it(
    'stays if it was there before, also for an agent that has just started',
    marbles(({ scheduler }) => {
      const steps = history(scheduler, { setUp: of('there'), write: failing('ENOSPC') });
      expect(steps).toEqual(['0 set up', '0 write', '0 ENOSPC']);
    }),
  );
});

describe('a volume that cannot be set up', () => {
  it(
    'is left as it is: containers may use it',
    marbles(({ scheduler }) => {
      expect(history(scheduler, { setUp: failing('EROFS') })).toEqual(['0 set up', '0 EROFS']);
    }),
  );

  it(
    'since its object is missing, is not touched',
    marbles(({ scheduler }) => {
      expect(history(scheduler, { setUp: EMPTY, content: failing('not found') })).toEqual(['0 not found']);
    }),
  );
});

it(
  'completes once the files are written',
  marbles(({ scheduler }) => {
    expect(history(scheduler, { setUp: of('there') })).toEqual(['0 set up', '0 write', '0 done']);
  }),
);
