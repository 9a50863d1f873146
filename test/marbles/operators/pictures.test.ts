import { catchError, defer, EMPTY, map, merge, mergeMap, type Observable, of, Subject, tap, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, it } from 'vitest';
import { alongside } from '../../../src/streams/operators/alongside.js';
import { concatMapBounded } from '../../../src/streams/operators/concat-map-bounded.js';
import { debounceAtMost } from '../../../src/streams/operators/debounce-at-most.js';
import { errorOnAbort } from '../../../src/streams/operators/error-on-abort.js';
import { every } from '../../../src/streams/operators/every.js';
import { exhaustMapLatest, exhaustMapLatestBy } from '../../../src/streams/operators/exhaust-map-latest.js';
import { gate } from '../../../src/streams/operators/gate.js';
import { inSlots } from '../../../src/streams/operators/in-slots.js';
import { inTurns } from '../../../src/streams/operators/in-turns.js';
import { limitByKey } from '../../../src/streams/operators/limit-by-key.js';
import { poll } from '../../../src/streams/operators/poll.js';
import { repeatWhile } from '../../../src/streams/operators/repeat-while.js';
import { retryWithBackoff } from '../../../src/streams/operators/retry-with-backoff.js';
import { reuseByKey } from '../../../src/streams/operators/reuse-by-key.js';
import { startWithPresent } from '../../../src/streams/operators/start-with-present.js';
import { tapIfSlow } from '../../../src/streams/operators/tap-if-slow.js';
import { tendConnection } from '../../../src/streams/operators/tend-connection.js';
import { toMap } from '../../../src/streams/operators/to-map.js';
import { untilTrue } from '../../../src/streams/operators/until-true.js';
import { watchedListing } from '../../../src/streams/operators/watched-listing.js';
import { operatorTable } from '../../house/operator-table.js';
import { marbles } from '../marbles.js';

type Setup = (
  cold: (marbles: string) => Observable<string>,
  scheduler: TestScheduler,
) => (source: string) => Observable<string>;

const lasting =
  (ms: number, scheduler: TestScheduler) =>
  (value: string): Observable<string> =>
    timer(ms, scheduler).pipe(map(() => value));
const ignoreCase = (value: string): string => value.toLowerCase();

/** The operator of each row, with the figures that the page names. */
const SETUPS: Readonly<Record<string, Setup>> = {
  exhaustMapLatest: (cold, scheduler) => (source) => cold(source).pipe(exhaustMapLatest(lasting(3, scheduler))),
  exhaustMapLatestBy: (cold, scheduler) => (source) =>
    cold(source).pipe(exhaustMapLatestBy(ignoreCase, lasting(3, scheduler))),
  concatMapBounded: (cold, scheduler) => (source) =>
    cold(source).pipe(concatMapBounded(lasting(3, scheduler), { limit: 1, onDrop: () => undefined })),
  inSlots: (cold, scheduler) => {
    const inSlot = inSlots({ count: 2, scheduler });
    return (source) => cold(source).pipe(mergeMap((value) => lasting(3, scheduler)(value).pipe(inSlot())));
  },
  inTurns: (cold, scheduler) => (source) => cold(source).pipe(inTurns({ most: 3, scheduler })()),
  limitByKey: (cold, scheduler) => {
    const limited = limitByKey({ inAll: 3, perKey: 2, tooMany: (limit) => new Error(limit) });
    return (source) =>
      cold(source).pipe(
        mergeMap((value) =>
          lasting(
            3,
            scheduler,
          )(value).pipe(
            limited(value),
            catchError(() => EMPTY),
          ),
        ),
      );
  },
  gate: (cold, scheduler) => (source) =>
    cold(source).pipe(
      gate({
        isOpen$: defer(() => of(scheduler.now() >= 4)),
        keyOf: ignoreCase,
        fold: (_held, value) => value,
        initialMs: 1,
        maxMs: 4,
        scheduler,
      }),
    ),
  debounceAtMost: (cold, scheduler) => (source) =>
    cold(source).pipe(debounceAtMost({ quietMs: 2, longestMs: 5, scheduler })),
  watchedListing: (cold, scheduler) => (source) =>
    watchedListing(
      { list: () => of('l'), watch: () => cold(source), isPassing: () => true },
      { periodMs: 9, quietMs: 2, retryMs: 9, maxRetryMs: 9, scheduler },
    ).pipe(map((event) => (event.kind === 'listed' ? event.value : 'failed'))),
  every: (cold, scheduler) => (source) => every({ periodMs: 3, scheduler }, () => cold(source)),
  poll: (cold, scheduler) => (source) =>
    poll(() => cold(source), { periodMs: 3, timeoutMs: 9, scheduler }).pipe(map(({ kind }) => kind.charAt(0))),
  untilTrue: (cold, scheduler) => (source) => {
    const checks = [...source.replaceAll('-', '')];
    const everyMs = source.indexOf('n', 1);
    return untilTrue(() => of(checks.shift() === 'y'), {
      everyMs,
      withinMs: 99,
      tooLate: () => new Error('too late'),
      scheduler,
    });
  },
  repeatWhile: (cold) => (source) => {
    let left = 2;
    return cold(source).pipe(repeatWhile(() => left-- > 0));
  },
  startWithPresent: (cold) => (source) => cold(source).pipe(startWithPresent(() => 'a')),
  toMap: (cold) => (source) =>
    cold(source).pipe(
      map((key) => [key, key] as const),
      toMap(),
      map(() => 'm'),
    ),
  retryWithBackoff: (cold, scheduler) => (source) =>
    cold(source).pipe(retryWithBackoff({ initialMs: 1, maxMs: 4, scheduler })),
  reuseByKey: (cold, scheduler) => (source) => {
    const answer$ = cold('-(s|)').pipe(reuseByKey<string>({ lifetimeMs: () => 3, most: 9, scheduler })('key'));
    return cold(source).pipe(mergeMap(() => answer$));
  },
  tapIfSlow: (cold, scheduler) => (source) => {
    const slow$ = new Subject<string>();
    const tapped$ = cold(source).pipe(tapIfSlow(3, () => slow$.next('s'), scheduler));
    return merge(slow$, tapped$.pipe(tap({ complete: () => slow$.complete() })));
  },
  tendConnection: (cold, scheduler) => (source) => {
    const timing = { silenceMs: 10, answerMs: 2, unusedMs: 3, scheduler };
    const connection = { received: () => 0, ping: () => of('answer') };
    return cold(source).pipe(
      map((value) => value === 'y'),
      tendConnection(connection, timing),
    );
  },
  errorOnAbort: (cold, scheduler) => (source) => {
    const abort = new AbortController();
    scheduler.schedule(() => abort.abort(), 4);
    return cold(source).pipe(errorOnAbort(abort.signal, () => new Error('aborted')));
  },
};

describe('the pictures of the operators in docs/library.md', () => {
  const rows = operatorTable();

  it.each(rows.filter(({ name }) => name !== 'alongside'))('$name: $source → $result', ({ name, source, result }) => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const setup = SETUPS[name];
      if (!setup) throw new Error(`no picture of ${name} can be run`);
      const isBroken = result.endsWith('#');
      const run$ = setup((drawn) => cold(drawn), scheduler)(source);
      expectObservable(run$, `${'-'.repeat(result.length)}!`).toBe(
        result,
        undefined,
        isBroken ? new Error('aborted') : 'error',
      );
    })();
  });

  it.each(rows.filter(({ name }) => name === 'alongside'))('$name: $source keeps $result', ({ source, result }) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const companion$ = cold('x-x-x-x-x');
      expectObservable(cold(source).pipe(alongside(companion$))).toBe(source);
      expectSubscriptions(companion$.subscriptions).toBe(result);
    })();
  });
});
