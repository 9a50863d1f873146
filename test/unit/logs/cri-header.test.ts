import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseCriLine } from '../../../src/model/cri/log-line.js';
import { criHeader } from '../../../src/model/logs/cri-header.js';
import { logTimestamp } from '../../../src/model/logs/log-time.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What the header says, as text, beside what the parser of whole lines says. */
const both = (line: string): readonly [unknown, unknown] => {
  const header = criHeader(bytes(line));
  const parsed = parseCriLine(line);
  return [
    header && {
      timestamp: line.slice(0, header.timeEnd),
      stream: header.stream,
      isPartial: header.isPartial,
      content: line.slice(header.contentStart),
      isExact: header.isExact,
    },
    parsed && { ...parsed, isExact: logTimestamp(parsed.timestamp) === parsed.timestamp },
  ];
};

const twoDigits = (most: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, '0'));
/** Mostly valid, and sometimes just not. */
const time = fc
  .tuple(
    fc.constantFrom('2026', '0000', '9999'),
    ...[13, 32, 24, 60, 60].map(twoDigits),
    fc.constantFrom('', '.', '.1', '.120000000', '.123456789', '.1234567891', ',5'),
    fc.constantFrom('Z', 'z', '+00:00', '-00:00', '+02:00', '-07:30', '+99:59', '+01:60', '+0100', ''),
  )
  .map(([y, mo, d, h, mi, s, fraction, zone]) => `${y}-${mo}-${d}T${h}:${mi}:${s}${fraction}${zone}`);
const line = fc
  .tuple(
    time,
    fc.constantFrom('stdout', 'stderr', 'stdin', 'stdoutt', ''),
    fc.constantFrom('F', 'P', 'P:x', 'F:P', 'PX', '', ':'),
    fc.constantFrom(' content', ' ', '', '  two blanks', ' a\n'),
  )
  .map(([at, stream, tags, content]) => `${at} ${stream} ${tags}${content}`);

describe('the header of a line', () => {
  test.prop([line], { numRuns: 3_000 })('is what the parser of text finds', (text) => {
    const [header, parsed] = both(text);
    expect(header).toEqual(parsed);
  });

  test.prop([line, fc.nat(), fc.integer({ min: 0, max: 127 })], { numRuns: 3_000 })(
    'is so after any change of a byte',
    (text, at, byte) => {
      const position = at % text.length;
      const [header, parsed] = both(text.slice(0, position) + String.fromCharCode(byte) + text.slice(position + 1));
      expect(header).toEqual(parsed);
    },
  );

  it.each(['', '2', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z stdout', '2026-01-31T12:00:00Z stdout F'])(
    'is missing from a line that is cut off: %j',
    (text) => {
      expect(both(text)).toEqual([undefined, undefined]);
    },
  );

  it('has at most a KiB', () => {
    const withTags = (length: number): string => `2026-01-31T12:00:00Z stdout ${'F'.repeat(length)} content`;
    expect(criHeader(bytes(withTags(900)))?.contentStart).toBe(929);
    expect(criHeader(bytes(withTags(1_000)))).toBeUndefined();
  });
});
