import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastLogLines, parseLogLine } from '../../../src/model/cri/log-line.js';

const AT = '2026-01-02T03:04:05.678901234Z';
const AT_OFFSET = '2026-01-02T03:04:05.6+02:00';

describe('a line of a log', () => {
  it.each([
    { line: `${AT} stdout F hello`, is: { stream: 'stdout', isPartial: false, content: 'hello' } },
    { line: `${AT} stderr P half of`, is: { stream: 'stderr', isPartial: true, content: 'half of' } },
    { line: `${AT} stdout F `, is: { stream: 'stdout', isPartial: false, content: '' } },
    { line: `${AT} stdout F  two  spaces `, is: { stream: 'stdout', isPartial: false, content: ' two  spaces ' } },
    { line: `${AT} stdout F a\rb`, is: { stream: 'stdout', isPartial: false, content: 'a\rb' } },
    { line: `${AT} stdout P:more:tags x`, is: { stream: 'stdout', isPartial: true, content: 'x' } },
    { line: `${AT} stdout F:P x`, is: { stream: 'stdout', isPartial: false, content: 'x' } },
    { line: `${AT} stdout unheard x`, is: { stream: 'stdout', isPartial: false, content: 'x' } },
    {
      line: `{"log":"from docker\\n","stream":"stderr","time":"${AT}"}`,
      is: { stream: 'stderr', isPartial: false, content: 'from docker' },
    },
    {
      line: `{"log":"half","stream":"stdout","time":"${AT}"}`,
      is: { stream: 'stdout', isPartial: true, content: 'half' },
    },
  ])('$line', ({ line, is }) => {
    expect(parseLogLine(line)).toEqual({ timestamp: AT, ...is });
  });

  it('keeps the time as it stands there', () => {
    expect(parseLogLine(`${AT_OFFSET} stdout F x`)?.timestamp).toBe(AT_OFFSET);
  });

  it.each([
    '',
    'hello',
    `${AT}`,
    `${AT} stdout`,
    `${AT} stdout F`,
    `${AT} stdin F x`,
    `yesterday stdout F x`,
    `2026-13-02T03:04:05Z stdout F x`,
    `2026-01-02T24:04:05Z stdout F x`,
    `01-02T03:04:05.678901234Z stdout F x`,
    '{"log":"x"',
    '{"log":"x","stream":"stdout"}',
    `{"log":1,"stream":"stdout","time":"${AT}"}`,
    `{"log":"x","stream":"stdin","time":"${AT}"}`,
    '{"log":"x","stream":"stdout","time":"yesterday"}',
    'null',
  ])('is not %j', (line) => {
    expect(parseLogLine(line)).toBeUndefined();
  });
});

describe('the end of a log', () => {
  const log = (...lines: readonly string[]): string => lines.map((line) => `${AT} ${line}\n`).join('');
  const limits = { maxLines: 80, maxBytes: 2048 };

  it.each([
    { case: 'of an empty log', text: '', ends: '' },
    { case: 'both streams in order', text: log('stdout F a', 'stderr F b', 'stdout F c'), ends: 'a\nb\nc\n' },
    { case: 'parts joined', text: log('stdout P a', 'stdout P b', 'stdout F c'), ends: 'abc\n' },
    { case: 'a part that nothing followed', text: log('stdout F a', 'stdout P b'), ends: 'a\nb' },
    { case: 'a line without its newline', text: log('stdout F a') + `${AT} stdout F b`, ends: 'a\nb' },
    { case: 'a line that is only begun', text: log('stdout F a') + AT.slice(0, 8), ends: 'a\n' },
    { case: 'where the text begins in the middle of a line', text: 'dout F lost\n' + log('stdout F a'), ends: 'a\n' },
  ])('$case', ({ text, ends }) => {
    expect(lastLogLines(text, limits)).toBe(ends);
  });

  it.each([
    { maxLines: 2, maxBytes: 99, ends: 'c\nd\n' },
    { maxLines: 0, maxBytes: 99, ends: '' },
    { maxLines: 9, maxBytes: 3, ends: '\nd\n' },
    { maxLines: 9, maxBytes: 0, ends: '' },
    { maxLines: 1, maxBytes: 99, ends: 'd\n' },
  ])('of $maxLines lines and $maxBytes bytes', ({ ends, ...limits }) => {
    expect(lastLogLines(log('stdout F a', 'stdout F b', 'stdout F c', 'stdout F d'), limits)).toBe(ends);
  });

  it('counts parts as lines of their own', () => {
    expect(lastLogLines(log('stdout P a', 'stdout P b', 'stdout F c'), { maxLines: 2, maxBytes: 99 })).toBe('bc\n');
  });

  it('never cuts a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.nat(40), (content, maxBytes) => {
        fc.pre(!content.includes('\n'));
        const whole = `${content}\n`;
        const ends = lastLogLines(log(`stdout F ${content}`), { maxLines: 1, maxBytes });
        const length = new TextEncoder().encode(ends).length;
        expect(whole.endsWith(ends)).toBe(true);
        expect(length).toBeLessThanOrEqual(maxBytes);
        // Not one character more would have fitted.
        const longer = [...whole].slice(-[...ends].length - 1).join('');
        if (ends !== whole) expect(new TextEncoder().encode(longer).length).toBeGreaterThan(maxBytes);
      }),
    );
  });
});
