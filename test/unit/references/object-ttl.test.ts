import { expect, it } from 'vitest';
import { objectTtlMs } from '../../../src/model/references/object-ttl.js';

it.each([
  ['15', 15_000],
  ['0', 0],
  ['-1', -1_000],
  ['', undefined],
  ['1m', undefined],
  ['1.5', undefined],
])('an object is believed for the seconds that the node object says: %j', (ttl, expected) => {
  expect(objectTtlMs({ 'node.alpha.kubernetes.io/ttl': ttl })).toBe(expected);
});

it('a node object that says nothing says nothing', () => {
  expect(objectTtlMs({ 'example.org/ttl': '1' })).toBeUndefined();
  expect(objectTtlMs()).toBeUndefined();
});
