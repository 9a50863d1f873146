import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { criLines, LogWriter, rfc3339Nano } from '../../../src/runtime/embedded/containers/log-writer.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('criLines', () => {
  const k16 = 16 * 1024;
  it.each([
    ['whole lines', 'a\nbc\n', false, ['F a', 'F bc'], 5],
    ['an empty line', '\n', false, ['F '], 1],
    ['a tail that waits', 'a\nrest', false, ['F a'], 2],
    ['a tail at the end', 'a\nrest', true, ['F a', 'P rest'], 6],
    ['exactly 16 KiB with its newline', `${'x'.repeat(k16)}\n`, false, [`F ${'x'.repeat(k16)}`], k16 + 1],
    ['one byte more', `${'x'.repeat(k16 + 1)}\n`, false, [`P ${'x'.repeat(k16)}`, 'F x'], k16 + 2],
    ['16 KiB whose newline has not come yet', 'x'.repeat(k16), false, [`P ${'x'.repeat(k16)}`], k16],
    ['less than 16 KiB without newline', 'x'.repeat(k16 - 1), false, [], 0],
    ['nothing', '', true, [], 0],
  ])('%s', (_name, raw, atEnd, expected, consumed) => {
    const result = criLines(Buffer.from(raw), 'T stdout', atEnd);
    const text = Buffer.concat(result.lines).toString();
    expect(text).toBe(expected.map((line) => `T stdout ${line}\n`).join(''));
    expect(result.consumed).toBe(consumed);
  });
});

it('prints nine digits of a second', () => {
  expect(rfc3339Nano(1_700_000_000_000_000_042n)).toBe('2023-11-14T22:13:20.000000042Z');
});

describe('LogWriter', () => {
  let directory: string;
  const at = (name: string): string => join(directory, name);
  const writer = (): LogWriter => {
    const made = new LogWriter({
      rawDirectory: directory,
      checkpointPath: at('checkpoint'),
      logPath: at('logs/0.log'),
      fallocate: undefined,
      log: silent,
    });
    made.open();
    return made;
  };
  const contents = (path = at('logs/0.log')): string[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.replace(/^\S+ /, ''));
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rx-log-'));
    for (const stream of ['stdout', 'stderr']) writeFileSync(at(stream), '');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('goes on where the last writer stopped', async () => {
    appendFileSync(at('stdout'), 'one\ntw');
    const first = writer();
    await first.settled();
    first.close();
    expect(contents()).toEqual(['stdout F one']);
    appendFileSync(at('stdout'), 'o\n');
    appendFileSync(at('stderr'), 'three\n');
    await writer().finish();
    expect(contents()).toEqual(['stdout F one', 'stdout F two', 'stderr F three']);
  });

  it.each([
    ['at its path', '0.log'],
    ['where a rotation put it', '0.log.20260101-000000'],
  ])('cuts away what a crash left behind the checkpoint, in the log %s', async (_where, name) => {
    appendFileSync(at('stdout'), 'one\n');
    const first = writer();
    await first.settled();
    first.close();
    // The crash came after the log was written and before the checkpoint was.
    appendFileSync(at('stdout'), 'two\n');
    appendFileSync(at('logs/0.log'), '2023-11-14T22:13:20.000000042Z stdout F two\n2023-11-14T22:13:20.0000');
    if (name !== '0.log') renameSync(at('logs/0.log'), at(`logs/${name}`));
    await writer().finish();
    const all = name === '0.log' ? contents() : [...contents(at(`logs/${name}`)), ...contents()];
    expect(all).toEqual(['stdout F one', 'stdout F two']);
  });
});
