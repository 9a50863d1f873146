import { describe, expect, it } from 'vitest';
import { isScanned, scanBlock, type TailScan } from '../../../src/model/logs/tail-scan.js';

const block = (text: string): Uint8Array => Buffer.from(text);
const atEnd = (left: number): TailScan => ({ left, newlines: 0 });

describe('the scan of a log from its end', () => {
  it.each([
    // The block begins at position 100.
    ['a\nb\nc\n', 0, { newlines: 3, start: 106 }],
    ['a\nb\nc\n', 1, { newlines: 3, start: 104 }],
    ['a\nb\nc\n', 2, { newlines: 3, start: 102 }],
    ['a\nb\nc\n', 3, { newlines: 3 }],
    ['a\nb\nc', 0, { newlines: 2, start: 104 }],
    ['a\nb\nc', 1, { newlines: 2, start: 102 }],
    ['\n\n', 1, { newlines: 2, start: 101 }],
    ['abc', 0, { newlines: 0 }],
    ['', 0, { newlines: 0 }],
  ])('of the block %j for %i lines finds %j', (text, lineCount, found) => {
    expect(scanBlock(atEnd(200), 100, block(text), lineCount)).toEqual({ left: 100, ...found });
  });

  it.each([
    ['x\ny\n', 1, { newlines: 3, start: 54 }],
    ['x\ny\n', 2, { newlines: 3, start: 52 }],
    ['x\ny\n', 3, { newlines: 3 }],
  ])('counts the newlines behind the block %j, for %i lines', (text, lineCount, found) => {
    const before = scanBlock(atEnd(200), 100, block('a\nb'), lineCount);
    expect(scanBlock(before, 50, block(text), lineCount)).toEqual({ left: 50, ...found });
  });

  it('is over at the beginning of the file, or with the start of the lines', () => {
    expect(isScanned({ left: 0, newlines: 2 })).toBe(true);
    expect(isScanned({ left: 7, newlines: 2, start: 9 })).toBe(true);
    expect(isScanned({ left: 7, newlines: 2 })).toBe(false);
  });
});
