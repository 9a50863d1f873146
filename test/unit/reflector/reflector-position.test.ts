import { describe, expect, it } from 'vitest';
import {
  isOlderThanAsked,
  listedAt,
  listTerms,
  type ReflectorPosition,
  startPosition,
  unavailable,
} from '../../../src/model/reflector/reflector-position.js';

const at = (resourceVersion: string, change: Partial<ReflectorPosition> = {}): ReflectorPosition => ({
  ...startPosition(),
  resourceVersion,
  ...change,
});

describe('a list', () => {
  it.each<[what: string, position: ReflectorPosition, resourceVersion: string, limit: number | undefined]>([
    ['the first one', startPosition(), '0', 500],
    ['the first one of a later run', startPosition('42'), '42', undefined],
    ['a later one', at('7'), '7', undefined],
    ['one after a version that is gone', unavailable(at('7')), '', 500],
    ['a first one after a version that is gone', unavailable(startPosition()), '', 500],
    ['a later one of a server without a cache', at('7', { isPaged: true }), '7', 500],
  ])('%s', (_what, position, resourceVersion, limit) => {
    expect(listTerms(position)).toEqual({ resourceVersion, limit });
  });
});

describe('after a list', () => {
  it.each<[asked: string, isPaged: boolean, expected: boolean]>([
    ['0', true, true],
    ['0', false, false],
    ['', true, false],
    ['7', true, false],
  ])('from %j with pages %j the next one is asked for in pages: %j', (resourceVersion, isPaged, expected) => {
    const position = listedAt(unavailable(at('7')), { resourceVersion, limit: 500 }, { resourceVersion: '9', isPaged });
    expect(position).toEqual({ resourceVersion: '9', isUnavailable: false, isPaged: expected });
  });

  it('of a server without a cache, none is found by later lists', () => {
    const position = at('7', { isPaged: true });
    const later = listedAt(position, listTerms(position), { resourceVersion: '9', isPaged: false });
    expect(later.isPaged).toBe(true);
  });
});

it.each([
  ['7', '6', true],
  ['7', '7', false],
  ['7', '8', false],
  ['0', '6', false],
  ['', '6', false],
  ['x', '6', false],
])('of what was asked for from %j, %j is too old: %j', (resourceVersion, given, expected) => {
  expect(isOlderThanAsked({ resourceVersion, limit: undefined }, given)).toBe(expected);
});
