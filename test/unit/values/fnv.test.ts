import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { fnv1a128, fnv1a128Hex, fnv1a32, fnv1a64 } from '../../../src/model/values/fnv.js';

describe('FNV-1a gives the published check values', () => {
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('32 bits of %j', (text, hash) => {
    expect(fnv1a32(text)).toBe(hash);
  });

  it.each([
    ['', 0xcbf29ce484222325n],
    ['a', 0xaf63dc4c8601ec8cn],
    ['foobar', 0x85944171f73967e8n],
  ])('64 bits of %j', (text, hash) => {
    expect(fnv1a64(text)).toBe(hash);
  });

  it.each([
    ['', 0x6c62272e07bb014262b821756295c58dn],
    ['a', 0xd228cb696f1a8caf78912b704e4a8964n],
    ['ab', 0x08809544bbab1be95aa0733055b69a62n],
    ['abc', 0xa68d622cec8b5822836dbc7977af7f3bn],
  ])('128 bits of %j', (text, hash) => {
    expect(fnv1a128(text)).toBe(hash);
  });
});

it('hashes the UTF-8 bytes of a text, not its UTF-16 units', () => {
  expect(fnv1a32('é')).toBe([0xc3, 0xa9].reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5));
});

it('goes on from the hash of an earlier text', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => fnv1a128(other, fnv1a128(one)) === fnv1a128(one + other)),
  );
});

it('pads the hex form to 32 digits', () => {
  expect(fnv1a128Hex('ab')).toBe('08809544bbab1be95aa0733055b69a62');
});

it('makes 128 bits of any text as the definition says, without a bigint for each byte', () => {
  const defined = (text: string): bigint =>
    new TextEncoder()
      .encode(text)
      .reduce(
        (hash, byte) => BigInt.asUintN(128, (hash ^ BigInt(byte)) * 0x1000000000000000000013bn),
        0x6c62272e07bb014262b821756295c58dn,
      );
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => fnv1a128(text) === defined(text)));
  const made = vi.spyOn(globalThis, 'BigInt');
  try {
    fnv1a128('x'.repeat(1_000));
    expect(made.mock.calls.length).toBeLessThan(10);
  } finally {
    made.mockRestore();
  }
});
