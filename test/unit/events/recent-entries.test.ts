import { expect, it } from 'vitest';
import { RecentEntries } from '../../../src/model/events/recent-entries.js';

it('keeps those that were read or written last', () => {
  const entries = new RecentEntries<number>(2);
  entries.set('a', 1);
  entries.set('b', 2);
  expect(entries.get('a')).toBe(1);
  entries.set('c', 3);
  expect([entries.get('a'), entries.get('b'), entries.get('c')]).toEqual([1, undefined, 3]);
  entries.set('a', 4);
  entries.set('d', 5);
  expect([entries.get('a'), entries.get('c'), entries.size]).toEqual([4, undefined, 2]);
});
