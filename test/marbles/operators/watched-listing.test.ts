import { concat, defer, map, NEVER, type Observable, of, throwError } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, it } from 'vitest';
import { FILE_CHECK_FREQUENCY_MS, FILE_RETRY_MS, MAX_FILE_RETRY_MS } from '../../../src/sources/file-source.js';
import { watchedListing, type WatchedEvent } from '../../../src/streams/operators/watched-listing.js';
import { inTurn, marbles } from '../marbles.js';

const PASSING = 'not yet there';

/** The values of manifests, except the quiet time. */
const timing = (scheduler: TestScheduler) => ({
  periodMs: FILE_CHECK_FREQUENCY_MS,
  quietMs: 20,
  retryMs: FILE_RETRY_MS,
  maxRetryMs: MAX_FILE_RETRY_MS,
  scheduler,
});

const named = (event: WatchedEvent<string>): string => (event.kind === 'listed' ? event.value : 'x');

const isPassing = (error: unknown): boolean => error === PASSING;

describe('watchedListing', () => {
  it(
    'lists at once and every 20 s at a fixed rate, however long a listing takes',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const listing = cold('5s (l|)');
      const event$ = watchedListing({ list: () => listing, watch: () => NEVER, isPassing }, timing(scheduler));
      expectObservable(event$.pipe(map(named)), '61s !').toBe('5s l 19999ms l 19999ms l');
      expectSubscriptions(listing.subscriptions).toBe([
        '     ^ 4999ms !',
        '20s  ^ 4999ms !',
        '40s  ^ 4999ms !',
        '60s  ^ 999ms !',
      ]);
    }),
  );

  it(
    'lists 20 ms after the last event of a burst',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const change$ = hot('    100ms c 4ms c 4ms c');
      const listing = cold('   (l|)');
      const expected = '       l 129ms l';
      const event$ = watchedListing({ list: () => listing, watch: () => change$, isPassing }, timing(scheduler));
      expectObservable(event$.pipe(map(named)), '1s !').toBe(expected);
    }),
  );

  it(
    'lists at least every 200 ms while events never pause',
    marbles(({ cold, expectObservable, scheduler }) => {
      const change$ = concat(of('c'), cold('10ms (c|)')).pipe((once$) => repeatEvery(once$, 45));
      const listing = cold('   (l|)');
      const event$ = watchedListing({ list: () => listing, watch: () => change$, isPassing }, timing(scheduler));
      expectObservable(event$.pipe(map(named)), '430ms !').toBe('l 199ms l 199ms l');
    }),
  );

  it(
    'lists once more, and only once, for all that happens during a listing',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const change$ = hot('    100ms c 99ms c 99ms c');
      const listing = cold('   300ms (l|)');
      const event$ = watchedListing({ list: () => listing, watch: () => change$, isPassing }, timing(scheduler));
      expectObservable(event$.pipe(map(named)), '2s !').toBe('300ms l 299ms l 299ms l');
      expectSubscriptions(listing.subscriptions).toBe(['^ 299ms !', '300ms ^ 299ms !', '600ms ^ 299ms !']);
    }),
  );

  it(
    'watches again 1 s after a watch has ended, and lists when it watches',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const first = cold('     c 2s |');
      const second = cold('    c');
      const listing = cold('   (l|)');
      const watch$ = inTurn<string>(first, second);
      const event$ = watchedListing({ list: () => listing, watch: () => watch$, isPassing }, timing(scheduler));
      // 0 the tick, 20 the first watch, 3021 the second.
      expectObservable(event$.pipe(map(named)), '10s !').toBe('l 19ms l 3000ms l');
      expectSubscriptions(first.subscriptions).toBe('^ 2s !');
      expectSubscriptions(second.subscriptions).toBe('3001ms ^ 6998ms !');
    }),
  );

  it(
    'tries every second, without growing delays, to watch what does not exist yet, and lists each time',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const missing = cold<string>('#', {}, PASSING);
      const listing = cold('(l|)');
      const event$ = watchedListing({ list: () => listing, watch: () => missing, isPassing }, timing(scheduler));
      const expected = '(xl) 16ms l 979ms x 19ms l 979ms x 19ms l 979ms x 19ms l';
      expectObservable(event$.pipe(map(named)), '3500ms !').toBe(expected);
      expectSubscriptions(missing.subscriptions).toBe(['(^!)', '1s (^!)', '2s (^!)', '3s (^!)']);
    }),
  );

  it(
    'doubles the delay after failures that do not pass: 1, 2, 4, 8, 16, then 20 s',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const broken = cold<string>('#');
      const event$ = watchedListing({ list: () => NEVER, watch: () => broken, isPassing }, timing(scheduler));
      const expected = 'x 999ms x 1999ms x 3999ms x 7999ms x 15999ms x 19999ms x 19999ms x';
      expectObservable(event$.pipe(map(named)), '72s !').toBe(expected);
      expectSubscriptions(broken.subscriptions).toBe(
        ['', '1s', '3s', '7s', '15s', '31s', '51s', '71s'].map((at) => `${at} (^!)`),
      );
    }),
  );

  it(
    'forgets failures after 40 s without one',
    marbles(({ cold, expectSubscriptions, expectObservable, scheduler }) => {
      const broken = cold<string>('#');
      const healthy = cold<string>('41s #');
      const watch$ = inTurn<string>(broken, broken, broken, healthy, broken);
      const event$ = watchedListing({ list: () => NEVER, watch: () => watch$, isPassing }, timing(scheduler));
      // After 1 + 2 + 4 s of delays it watches until 48 s; then the delay is 1 s again.
      expectObservable(event$.pipe(map(named)), '49500ms !').toBe('x 999ms x 1999ms x 44999ms x 999ms x');
      expectSubscriptions(healthy.subscriptions).toBe('7s ^ 40999ms !');
      expectSubscriptions(broken.subscriptions).toBe(['(^!)', '1s (^!)', '3s (^!)', '49s (^!)']);
    }),
  );

  it(
    'waits 1 s after a watch that has ended, however long the delays were before',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const broken = cold<string>('#');
      const ending = cold<string>('5s |');
      const watch$ = inTurn<string>(broken, broken, broken, ending, ending);
      const event$ = watchedListing({ list: () => NEVER, watch: () => watch$, isPassing }, timing(scheduler));
      expectObservable(event$.pipe(map(named)), '14s !').toBe('x 999ms x 1999ms x');
      expectSubscriptions(ending.subscriptions).toBe(['7s ^ 4999ms !', '13s ^ 999ms !']);
    }),
  );

  it(
    'lets the watch look again at every tick',
    marbles(({ cold, expectObservable, scheduler }) => {
      const listing = cold('(l|)');
      const watch = (check$: Observable<unknown>) => check$.pipe(map(() => 'checked'));
      const event$ = watchedListing({ list: () => listing, watch, isPassing }, timing(scheduler));
      expectObservable(event$.pipe(map(named)), '21s !').toBe('l 19ms l 19979ms l 19ms l');
    }),
  );

  it(
    'lists again when the last listing has asked for it, and only then',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const change$ = hot('    3s c');
      const list = inTurn<string>(cold('(x|)'), cold('(y|)'), cold('(z|)'), cold('(z|)'));
      const againInMs = (value: string) => ({ x: 5_000, y: 2_000 })[value];
      const event$ = watchedListing(
        { list: () => list, againInMs, watch: () => change$, isPassing },
        timing(scheduler),
      );
      // What happens at 3 s is listed at 3020 ms, which asks for 5020 ms instead of 5 s.
      expectObservable(event$.pipe(map(named)), '19s !').toBe('x 3019ms y 1999ms z');
    }),
  );

  it(
    'ends with an error of the listing, which a listing that can fail has to turn into a value',
    marbles(({ expectObservable, scheduler }) => {
      const list = () => throwError(() => 'error');
      expectObservable(watchedListing({ list, watch: () => NEVER, isPassing }, timing(scheduler))).toBe('#');
    }),
  );

  it(
    'keeps nothing when unsubscribed, and starts over for the next subscriber',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const watching = cold('c');
      const listing = cold('---(l|)');
      const event$ = watchedListing({ list: () => listing, watch: () => watching, isPassing }, timing(scheduler));
      const named$ = defer(() => event$).pipe(map(named));
      expectObservable(named$, '  ^----!').toBe('---l--');
      expectObservable(named$, '10ms ^-!').toBe('10ms ---');
      expectSubscriptions(watching.subscriptions).toBe(['^----!', '10ms ^-!']);
    }),
  );
});

/** The same again and again, `times` times. */
const repeatEvery = <T>(once$: Observable<T>, times: number): Observable<T> =>
  concat(...Array.from({ length: times }, () => once$));
