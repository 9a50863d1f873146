import fc from 'fast-check';
import { defer, firstValueFrom, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { LOG_BLOCK_BYTES, tailStart } from '../../../src/streams/logs/tail-start.js';
import type { OpenLog } from '../../../src/streams/ports/log-reading.js';

/** A file in memory, with the bytes that were read of it. */
const fileOf = (bytes: Uint8Array) => {
  const file = {
    bytesRead: 0,
    identity: 'file',
    size: () => of(bytes.length),
    read: (position: number, length: number) =>
      defer(async () => {
        file.bytesRead += length;
        return bytes.subarray(position, position + length);
      }),
  } satisfies OpenLog & { bytesRead: number };
  return file;
};

const start = (text: string, lineCount: number): Promise<number> =>
  firstValueFrom(tailStart(fileOf(Buffer.from(text)), lineCount));

describe('the last lines of a file begin', () => {
  it.each([
    ['', 0, 0],
    ['', 3, 0],
    ['a\nb\nc\n', 0, 6],
    ['a\nb\nc\n', 1, 4],
    ['a\nb\nc\n', 3, 0],
    ['a\nb\nc\n', 4, 0],
    ['\n\n\n', 2, 1],
    ['a\nb\nc', 0, 4],
    ['a\nb\nc', 1, 2],
    ['a', 0, 0],
  ])('in %j, %i of them, at %i', async (text, lineCount, expected) => {
    expect(await start(text, lineCount)).toBe(expected);
  });

  it('where as many newlines follow, in files of several blocks', async () => {
    const lengths = fc.array(fc.nat(LOG_BLOCK_BYTES), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(lengths, fc.nat(7), async (lengths, lineCount) => {
        const lines = lengths.map((length) => `${'x'.repeat(length)}\n`);
        const tail = lineCount === 0 ? [] : lines.slice(-lineCount);
        expect(await start(lines.join(''), lineCount)).toBe(lines.join('').length - tail.join('').length);
      }),
      { numRuns: 50 },
    );
  });

  it('and no more than the blocks with these lines are read of a file of 100 MB', async () => {
    const bytes = new Uint8Array(100_000_000);
    const line = Buffer.from(`${'x'.repeat(99)}\n`);
    for (let at = 0; at < bytes.length; at += line.length) bytes.set(line, at);
    const file = fileOf(bytes);
    expect(await firstValueFrom(tailStart(file, 1_000))).toBe(bytes.length - 100_000);
    expect(file.bytesRead).toBe(2 * LOG_BLOCK_BYTES);
    const all = fileOf(bytes);
    expect(await firstValueFrom(tailStart(all, 1_000_000))).toBe(0);
    expect(all.bytesRead).toBe(bytes.length);
  });
});
