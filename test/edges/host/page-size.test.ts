import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { pageSize, pageSizeIn } from '../../../src/host/facts/page-size.js';

it('the size of a page is that of this machine', () => {
  expect(pageSize()).toBe(BigInt(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }).trim()));
});

it.each([
  ['of 16 KiB', [3n, 64n, 6n, 16_384n, 0n, 0n], 16_384n],
  ['that is not said', [3n, 64n, 0n, 0n], 4096n],
  ['that is a number of another thing', [7n, 6n, 0n, 0n], 4096n],
])('a page %s', (_, words, size) => {
  const [little, big] = [Buffer.alloc(words.length * 8), Buffer.alloc(words.length * 8)];
  words.forEach((word, index) => {
    little.writeBigUInt64LE(word, index * 8);
    big.writeBigUInt64BE(word, index * 8);
  });
  expect(pageSizeIn(little, 'LE')).toBe(size);
  expect(pageSizeIn(big, 'BE')).toBe(size);
  expect(pageSizeIn(little.subarray(0, -3), 'LE')).toBe(size);
});
