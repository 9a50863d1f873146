import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatQuantity,
  milliValue,
  parseQuantity,
  quantity,
  unitValue,
} from '../../../src/model/resources/quantity.js';

const UNIT = 1_000_000_000n;

describe('parseQuantity', () => {
  it.each<[string, bigint]>([
    ['0', 0n],
    ['1', UNIT],
    ['+1', UNIT],
    ['-1', -UNIT],
    ['100m', UNIT / 10n],
    ['0.1', UNIT / 10n],
    ['.5', UNIT / 2n],
    ['5.', 5n * UNIT],
    ['1u', 1000n],
    ['1n', 1n],
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['1k', 1000n * UNIT],
    ['1M', 10n ** 6n * UNIT],
    ['1E', 10n ** 18n * UNIT],
    ['1e3', 1000n * UNIT],
    ['1E3', 1000n * UNIT],
    ['1e-3', UNIT / 1000n],
    ['1e+21', 10n ** 21n * UNIT],
    ['1Ki', 1024n * UNIT],
    ['1.5Gi', 3n * 2n ** 29n * UNIT],
    ['1Ei', 2n ** 60n * UNIT],
    ['8Ei', (2n ** 63n - 1n) * UNIT],
    ['-9Ei', -(2n ** 63n - 1n) * UNIT],
    ['10E', 10n ** 19n * UNIT],
  ])('reads %s', (text, expected) => {
    expect(parseQuantity(text)).toBe(expected);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '1 Gi',
    'Gi',
    '1gi',
    '1K',
    '1ki',
    '1mi',
    '1,5',
    '--1',
    '1e',
    '1e1.5',
    '1Kim',
    '0x10',
    'NaN',
    '.',
  ])('refuses %j', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
    expect(() => quantity(text)).toThrow('is not a quantity');
  });
});

describe('values of a quantity', () => {
  it.each<[string, number, bigint]>([
    ['1', 1000, 1n],
    ['1500m', 1500, 2n],
    ['0.0001', 1, 1n],
    ['-1500m', -1500, -2n],
    ['128Mi', 134_217_728_000, 134_217_728n],
  ])('rounds %s away from zero', (text, milli, units) => {
    expect(milliValue(quantity(text))).toBe(milli);
    expect(unitValue(quantity(text))).toBe(units);
  });
});

it.each([
  ['an exponent', '1e999'],
  ['many digits', '9'.repeat(40_000)],
  ['the first that is too large', '9007199254740.992'],
])('bounds the thousandths of what no machine has: %s', (_what, text) => {
  expect(milliValue(quantity(text))).toBe(Number.MAX_SAFE_INTEGER);
});

describe('formatQuantity', () => {
  it('writes exponents as large as they come, where suffixes end with E', () => {
    expect(formatQuantity(quantity('1000e18'), 'DecimalExponent')).toBe('1e21');
    expect(formatQuantity(quantity('1000E'))).toBe('1000E');
  });

  it.each<[string, string, string]>([
    ['0', '0', '0'],
    ['1000m', '1', '1'],
    ['1500m', '1500m', '1500m'],
    ['2048', '2048', '2Ki'],
    ['1Gi', '1073741824', '1Gi'],
    ['1000k', '1M', '1000000'],
    ['0.000001', '1u', '1u'],
    ['-1Ki', '-1024', '-1Ki'],
  ])('writes %s', (text, decimal, binary) => {
    expect(formatQuantity(quantity(text))).toBe(decimal);
    expect(formatQuantity(quantity(text), 'BinarySI')).toBe(binary);
  });

  it('writes what is read back as the same amount', () => {
    fc.assert(
      // Beyond 64 bits an amount with a binary suffix is the largest that there is.
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.boolean(), (amount, isBinary) => {
        expect(parseQuantity(formatQuantity(amount, isBinary ? 'BinarySI' : 'DecimalSI'))).toBe(amount);
      }),
    );
  });
});
