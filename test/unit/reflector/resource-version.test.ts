import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareResourceVersions } from '../../../src/model/reflector/resource-version.js';

it.each([
  ['5', '5', 0],
  ['5', '6', -1],
  ['6', '5', 1],
  ['99', '100', -1],
  ['18446744073709551615', '18446744073709551614', 1],
  ['', '5', undefined],
  ['5', '0', undefined],
  ['05', '5', undefined],
  ['abc', '5', undefined],
  ['5', '-6', undefined],
] as const)('of %j and %j it says %j', (one, other, expected) => {
  expect(compareResourceVersions(one, other)).toBe(expected);
});

it('orders numbers as numbers, however long', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 70n }), fc.bigInt({ min: 1n, max: 2n ** 70n }), (one, other) => {
      expect(compareResourceVersions(String(one), String(other))).toBe(one === other ? 0 : one < other ? -1 : 1);
    }),
  );
});
