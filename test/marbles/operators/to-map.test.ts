import { map } from 'rxjs';
import { describe, it } from 'vitest';
import { toMap } from '../../../src/streams/operators/to-map.js';
import { marbles } from '../marbles.js';

type Entry = readonly [key: string, value: number];
const ENTRIES: Readonly<Record<string, Entry>> = { a: ['a', 1], b: ['b', 2], c: ['a', 3] };

describe('toMap', () => {
  it.each<{ case: string; source: string; expected: string; lasts: string; entries: readonly Entry[] }>([
    {
      case: 'emits the entries once, at the end',
      ...{ source: '-a-b|', expected: '----(m|)', lasts: '^---!' },
      entries: [
        ['a', 1],
        ['b', 2],
      ],
    },
    {
      case: 'keeps the last entry of a key',
      ...{ source: '-abc|', expected: '----(m|)', lasts: '^---!' },
      entries: [
        ['a', 3],
        ['b', 2],
      ],
    },
    {
      case: 'emits an empty map for a source without entries',
      ...{ source: '--|', expected: '--(m|)', lasts: '^-!', entries: [] },
    },
    { case: 'emits nothing before a failure', source: '-a-#', expected: '---#', lasts: '^--!', entries: [] },
  ])('toMap $case', ({ source, expected, lasts, entries }) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold<Entry>(source, ENTRIES);
      expectObservable(source$.pipe(toMap())).toBe(expected, { m: new Map(entries) });
      expectSubscriptions(source$.subscriptions).toBe(lasts);
    })();
  });

  it(
    'toMap begins each subscription with an empty map, and ends its source with an unsubscription',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold<Entry>('-a|', ENTRIES);
      const collected$ = source$.pipe(
        toMap(),
        map((found) => [...found.keys()].join('')),
      );
      expectObservable(collected$).toBe('--(a|)');
      expectObservable(collected$, '-!').toBe('--');
      expectSubscriptions(source$.subscriptions).toBe(['^-!', '^!']);
    }),
  );
});
