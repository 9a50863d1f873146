import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logInstant } from '../../../src/model/logs/log-time.js';
import { logPrinter, type LogPrintOptions } from '../../../src/model/logs/log-printer.js';

const T = '2026-01-31T12:00:0';
/** A line of second `at` in the format of CRI. */
const line = (at: number, content: string, { stream = 'stdout', tags = 'F' } = {}): string =>
  `${T}${at}.5Z ${stream} ${tags} ${content}\n`;

/** The output for a file that is read at once. */
const printed = (file: string | Uint8Array, options: Partial<LogPrintOptions> = {}): string => {
  const printer = logPrinter({ stream: 'All', timestamps: false, ...options });
  const bytes = typeof file === 'string' ? Buffer.from(file) : file;
  return Buffer.concat([printer.print(bytes), printer.printRest()]).toString();
};

describe('lines of CRI runtimes', () => {
  it.each<[string, string, string]>([
    ['whole lines', line(0, 'a') + line(1, 'b'), 'a\nb\n'],
    ['empty lines', line(0, '') + line(1, ''), '\n\n'],
    ['spaces at both ends', line(0, '  a  '), '  a  \n'],
    ['partial lines', line(0, 'ab', { tags: 'P' }) + line(1, 'cd', { tags: 'P' }) + line(2, 'e'), 'abcde\n'],
    ['a partial line at the end', line(0, 'a') + line(1, 'b', { tags: 'P' }), 'a\nb'],
    ['further tags', line(0, 'ab', { tags: 'P:x' }) + line(1, 'c', { tags: 'F:P' }), 'abc\n'],
    ['unknown tags', line(0, 'a', { tags: 'Q' }), 'a\n'],
    ['both streams, in the order of the file', line(0, 'a') + line(1, 'b', { stream: 'stderr' }), 'a\nb\n'],
    ['a last line without a line break', line(0, 'a') + `${T}1Z stdout F b`, 'a\nb'],
    ['a last line that is torn in its time', line(0, 'a') + '2026-01-', 'a\n'],
    [
      'lines that are none',
      line(0, 'a') + 'garbage\n\n' + `${T}1Z stdout F\n` + `${T}1Z stdin F x\n` + 'now stdout F x\n' + line(2, 'b'),
      'a\nb\n',
    ],
    ['a line of Docker among them', line(0, 'a') + `{"log":"x\\n","stream":"stdout","time":"${T}1Z"}\n`, 'a\n'],
    ['an empty file', '', ''],
  ])('%s', (_, file, expected) => {
    expect(printed(file)).toBe(expected);
  });

  it('keep the bytes of a container, also those that are no text', () => {
    const content = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).filter((byte) => byte !== 10);
    const printer = logPrinter({ stream: 'All', timestamps: false });
    const file = Buffer.concat([Buffer.from(`${T}0Z stdout F `), content, Buffer.from('\n')]);
    expect(Buffer.from(printer.print(file))).toEqual(Buffer.concat([content, Buffer.from('\n')]));
  });

  it('join a character that partial lines have split', () => {
    const [one, two] = [Buffer.from('ä').subarray(0, 1), Buffer.from('ä').subarray(1)];
    const partial = Buffer.concat([Buffer.from(`${T}0Z stdout P `), one, Buffer.from('\n')]);
    expect(printed(Buffer.concat([partial, Buffer.from(`${T}1Z stdout F `), two, Buffer.from('\n')]))).toBe('ä\n');
  });

  it('are an error if the first one is no line of a log', () => {
    expect(() => printed('garbage\n' + line(0, 'a'))).toThrow('unsupported log format: "garbage\\n"');
  });
});

describe('lines of Docker', () => {
  const docker = (log: string, stream = 'stdout'): string => `${JSON.stringify({ log, stream, time: `${T}0Z` })}\n`;

  it.each<[string, string, string]>([
    ['whole lines', docker('a\n') + docker('ü\n', 'stderr'), 'a\nü\n'],
    ['partial lines', docker('ab') + docker('c\n'), 'abc\n'],
    ['lines that are none', docker('a\n') + '{"log":\n' + line(1, 'x') + docker('b\n'), 'a\nb\n'],
  ])('%s', (_, file, expected) => {
    expect(printed(file)).toBe(expected);
  });
});

describe('an option', () => {
  const both = line(0, 'a') + line(1, 'b', { stream: 'stderr' }) + line(2, 'c') + line(3, 'd', { stream: 'stderr' });

  it.each<[string, Partial<LogPrintOptions>, string, string]>([
    ['for standard output', { stream: 'Stdout' }, both, 'a\nc\n'],
    ['for standard error', { stream: 'Stderr' }, both, 'b\nd\n'],
    ['for times', { timestamps: true }, line(0, 'a'), `${T}0.500000000Z a\n`],
    [
      'for times where partial lines begin',
      { timestamps: true },
      line(0, 'a', { tags: 'P' }) + line(1, 'b') + line(2, 'c'),
      `${T}0.500000000Z ab\n${T}2.500000000Z c\n`,
    ],
    ['for newer lines', { since: logInstant(`${T}2.5Z`)! }, both, 'c\nd\n'],
    ['for newer lines than all', { since: logInstant(`${T}3.500000001Z`)! }, both, ''],
    ['for bytes', { limitBytes: 3 }, both, 'a\nb'],
    ['for bytes of a stream', { limitBytes: 3, stream: 'Stderr' }, both, 'b\nd'],
    ['for bytes, which end in a time', { limitBytes: 5, timestamps: true }, both, '2026-'],
    ['for lines', { maxLines: 2 }, both, 'a\nb\n'],
    ['for lines, of which old ones count', { maxLines: 2, since: logInstant(`${T}1Z`)! }, both, 'b\n'],
    ['for lines, of which broken ones do not count', { maxLines: 2 }, line(0, 'a') + 'x\n' + line(1, 'b'), 'a\nb\n'],
    ['for no line', { maxLines: 0 }, both, ''],
  ])('%s', (_, options, file, expected) => {
    expect(printed(file, options)).toBe(expected);
  });

  it('is full when its limit is reached, and not before', () => {
    const printer = logPrinter({ stream: 'All', timestamps: false, limitBytes: 4 });
    printer.print(Buffer.from(line(0, 'a')));
    expect(printer.isFull()).toBe(false);
    printer.print(Buffer.from(line(1, 'b')));
    expect(printer.isFull()).toBe(true);
  });
});

describe('a file', () => {
  it('has the same output however it is cut into blocks', () => {
    const content = fc.string({ unit: 'grapheme', maxLength: 6 }).filter((text) => !text.includes('\n'));
    const lines = fc.array(fc.record({ content, tags: fc.constantFrom('F', 'P') }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(400)), (drawn, cuts) => {
        const file = Buffer.from(drawn.map(({ content, tags }, at) => line(at, content, { tags })).join(''));
        const printer = logPrinter({ stream: 'All', timestamps: true });
        const ends = [...cuts, file.length].toSorted((one, other) => one - other);
        const parts = ends.map((end, index) => printer.print(file.subarray(ends[index - 1] ?? 0, end)));
        expect(Buffer.concat([...parts, printer.printRest()]).toString()).toBe(printed(file, { timestamps: true }));
      }),
    );
  });

  it('that was cut off has nothing in common with the next one', () => {
    const printer = logPrinter({ stream: 'All', timestamps: false });
    const before = printer.print(Buffer.from(line(0, 'a') + `${T}1Z stdo`));
    printer.forget();
    expect(Buffer.concat([before, printer.print(Buffer.from(line(2, 'b')))]).toString()).toBe('a\nb\n');
  });
});
