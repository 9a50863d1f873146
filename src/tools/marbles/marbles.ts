import { deepStrictEqual } from 'node:assert/strict';
import { defer, EMPTY, type Observable } from 'rxjs';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';

export type MarbleHelpers = RunHelpers & { readonly scheduler: TestScheduler };

/** Runs `body` in virtual time. Endless streams need an unsubscribe marble, or the run never ends. */
export const marbles =
  (body: (helpers: MarbleHelpers) => void): (() => void) =>
  () => {
    const scheduler = new TestScheduler((actual, expected) => deepStrictEqual(actual, expected));
    scheduler.run((helpers) => body({ ...helpers, scheduler }));
  };

/** Plays one of `runs` per subscription, then nothing. */
export const inTurn = <T>(...runs: Observable<T>[]): Observable<T> => defer(() => runs.shift() ?? EMPTY);
