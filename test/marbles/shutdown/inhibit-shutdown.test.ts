import { defer, EMPTY, type Observable, of, type SchedulerLike, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { ensureMaxDelay, heldLock } from '../../../src/streams/shutdown/inhibit-shutdown.js';
import { expectLanes } from '../lanes.js';
import { inTurn, marbles } from '../marbles.js';

/** A service that answers the reads of its delay in turn, the last for ever. */
const serviceOf = (scheduler: SchedulerLike, ...delaysMs: readonly (number | Error)[]) => {
  const did: string[] = [];
  const note = (what: string): number => did.push(`${scheduler.now()} ${what}`);
  const left = [...delaysMs];
  return {
    did,
    maxDelayMs: (): Observable<number> =>
      defer(() => {
        note('read');
        const delay = left.length > 1 ? left.shift() : left[0];
        return delay instanceof Error ? throwError(() => delay) : of(delay ?? 0);
      }),
    setMaxDelay: (seconds: number): Observable<never> =>
      defer(() => {
        note(`set ${seconds}`);
        return EMPTY;
      }),
  };
};

it(
  'a delay that is long enough is not set',
  marbles(({ expectObservable, scheduler, flush }) => {
    const service = serviceOf(scheduler, 30_000);
    expectObservable(ensureMaxDelay(service, { seconds: 30, scheduler })).toBe('|');
    flush();
    expect(service.did).toEqual(['0 read']);
  }),
);

it(
  'a delay that is too short is set, and read again until the machine has it',
  marbles(({ expectObservable, scheduler, flush }) => {
    const service = serviceOf(scheduler, 5_000, 5_000, 5_000, 30_000);
    expectObservable(ensureMaxDelay(service, { seconds: 30, scheduler })).toBe('300ms |');
    flush();
    expectLanes(service.did, { everyMs: 100 }).toBe('(RsR)R-R', { R: 'read', s: 'set 30' });
  }),
);

it(
  'the delay is read five times after it was set, at once and after 100, 300, 700 and 1500 ms, and is then an error',
  marbles(({ expectObservable, scheduler, flush }) => {
    const service = serviceOf(scheduler, 5_000);
    const tooShort = new Error(
      'a shutdown of the machine waits at most 5 s (expected 30 s, which was set but is not in effect after 5 reads)',
    );
    expectObservable(ensureMaxDelay(service, { seconds: 30, scheduler })).toBe('1500ms #', undefined, tooShort);
    flush();
    expectLanes(service.did, { everyMs: 100 }).toBe('(RsR)R-R---R-------R', { R: 'read', s: 'set 30' });
  }),
);

it(
  'a read that fails ends the attempt at once, before and after the delay was set',
  marbles(({ expectObservable, scheduler, flush }) => {
    const gone = new Error('gone');
    const before = serviceOf(scheduler, gone);
    const after = serviceOf(scheduler, 5_000, 5_000, gone);
    expectObservable(ensureMaxDelay(before, { seconds: 30, scheduler })).toBe('#', undefined, gone);
    expectObservable(ensureMaxDelay(after, { seconds: 30, scheduler })).toBe('100ms #', undefined, gone);
    flush();
    expect(before.did).toEqual(['0 read']);
  }),
);

it(
  'a lock is released when the next one is held, once',
  marbles(({ cold, expectObservable, scheduler, flush }) => {
    const did: string[] = [];
    const taken$ = inTurn(cold('-(a|)', { a: 1 }), cold('---(b|)', { b: 2 }));
    const releaseLock = (one: number): number => did.push(`${scheduler.now()} release ${one}`);
    const lock = heldLock({ takeLock: () => taken$, releaseLock });
    expectObservable(lock.take$).toBe('            -|');
    expectObservable(lock.take$, '------^').toBe(' ---------|');
    scheduler.schedule(() => lock.release(), 12);
    scheduler.schedule(() => lock.release(), 14);
    flush();
    expect(did).toEqual(['9 release 1', '12 release 2']);
  }),
);

it(
  'a lock stays when the next one cannot be taken',
  marbles(({ cold, expectObservable, scheduler, flush }) => {
    const did: string[] = [];
    const taken$ = inTurn(cold<number>('(a|)', { a: 1 }), cold<number>('--#'));
    const releaseLock = (one: number): number => did.push(`${scheduler.now()} release ${one}`);
    const lock = heldLock({ takeLock: () => taken$, releaseLock });
    expectObservable(lock.take$).toBe('|');
    expectObservable(lock.take$, '---^').toBe('-----#');
    scheduler.schedule(() => lock.release(), 9);
    flush();
    expect(did).toEqual(['9 release 1']);
  }),
);
