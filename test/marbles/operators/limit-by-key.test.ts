import { catchError, mergeMap, of } from 'rxjs';
import { describe, it } from 'vitest';
import { errorText } from '../../../src/model/cri/cri-error.js';
import { limitByKey } from '../../../src/streams/operators/limit-by-key.js';
import { marbles } from '../marbles.js';

const limits = { inAll: 3, perKey: 2, tooMany: (limit: string) => new Error(limit) };
const text = catchError((error: unknown) => of(errorText(error)));

describe('limitByKey', () => {
  it(
    'refuses a subscription beyond a limit at once, without a subscription of its source',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const limited = limitByKey(limits);
      const key$ = hot('      aaabc---a|');
      const source = cold('   ------(x|)');
      const expected = '      --p-i-xx-x----(x|)';
      const runs = [
        '                     ^-----!',
        '                     -^-----!',
        '                     ---^-----!',
        '                     --------^-----!',
      ];
      const result$ = key$.pipe(mergeMap((key) => source.pipe(limited(key), text)));
      expectObservable(result$).toBe(expected, { x: 'x', p: 'perKey', i: 'inAll' });
      expectSubscriptions(source.subscriptions).toBe(runs);
    }),
  );

  it(
    'has room again after an end, an error and an unsubscription',
    marbles(({ cold, hot, expectObservable }) => {
      const limited = limitByKey({ ...limits, inAll: 1 });
      const endings = { e: cold('|'), f: cold('#', {}, new Error('error')), u: cold('--x'), x: cold('(x|)') };
      const limitedOf = (name: keyof typeof endings) => endings[name].pipe(limited<string>('k'), text);
      const first$ = hot('    e-f----|');
      expectObservable(first$.pipe(mergeMap((name) => limitedOf(name as 'e')))).toBe('--x----|', { x: 'error' });
      expectObservable(limitedOf('u'), '---^--!').toBe('-----x', { x: 'x' });
      expectObservable(limitedOf('x'), '------^').toBe('------(x|)');
    }),
  );

  it(
    'has room again after a value that a subscription is over with, once',
    marbles(({ cold, hot, expectObservable }) => {
      const limited = limitByKey({ ...limits, inAll: 1 });
      const source = cold('   v--o-o--|');
      const key$ = hot('      -ab--c-d---|');
      const isOver = (value: string) => value === 'o';
      const result$ = key$.pipe(mergeMap((key) => source.pipe(limited(key, isOver), text)));
      expectObservable(result$).toBe('-vi-ovoio-o--|', { v: 'v', o: 'o', i: 'inAll' });
    }),
  );
});
