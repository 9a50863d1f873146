import { describe, expect, it } from 'vitest';
import { createLogger, logForm, type LogForm } from '../../../src/cli/process/logger.js';

const lines = (options: { verbosity?: number; form?: LogForm } = {}) => {
  const written: string[] = [];
  const log = createLogger({ verbosity: 0, form: 'json', write: (line) => written.push(line), ...options });
  return { log, written };
};
const parsed = (line: string | undefined) => JSON.parse(line ?? '') as Record<string, unknown>;

describe('logger', () => {
  it('writes one JSON line per message, at once', () => {
    const { log, written } = lines();
    log.warn({ pod: 'web', error: new Error('broken'), size: 10n }, 'cannot');
    expect(written).toHaveLength(1);
    const { time, ...rest } = parsed(written[0]);
    expect(rest).toEqual({ level: 'warn', message: 'cannot', pod: 'web', error: 'broken', size: 10 });
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it.each([
    [0, ['info', 'warn', 'error']],
    [3, ['info', 'warn', 'error']],
    [4, ['debug', 'info', 'warn', 'error']],
  ])('at -v %i writes %j', (verbosity, levels) => {
    const { log, written } = lines({ verbosity });
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({}, 'x');
    expect(written.map((line) => parsed(line).level)).toEqual(levels);
  });

  it('takes another verbosity later', () => {
    const { log, written } = lines();
    for (const verbosity of [4, 3]) {
      log.setVerbosity(verbosity);
      log.debug({ verbosity }, 'x');
    }
    expect(written.map((line) => parsed(line).verbosity)).toEqual([4]);
  });

  it.each([{ headers: { Authorization: 'Bearer s3cret' } }, { config: { staticPodURLHeader: { A: ['s3cret'] } } }])(
    'never writes a credential of %j',
    (fields) => {
      const { log, written } = lines();
      log.info(fields, 'x');
      expect(written.join('')).not.toContain('s3cret');
      expect(written.join('')).toContain('***');
    },
  );

  it('writes short lines for people', () => {
    const { log, written } = lines({ form: 'terminal' });
    log.info({ pod: 'web', problem: 'two words', count: 2 }, 'hello');
    expect(written[0]).toMatch(/^\d\d:\d\d:\d\d .*INFO .* hello pod=web problem="two words" count=2\n$/);
  });

  it('writes the same lines with their date where no user watches', () => {
    const { log, written } = lines({ form: 'text' });
    log.warn({ pod: 'web' }, 'hello');
    expect(written[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z .*WARN .* hello pod=web\n$/);
  });
});

it.each([
  ['', true, 'terminal'],
  ['', false, 'json'],
  ['text', true, 'terminal'],
  ['text', false, 'text'],
  ['json', true, 'json'],
  ['json', false, 'json'],
] as const)('logging.format %j on a terminal: %s makes it %s', (format, isTerminal, form) => {
  expect(logForm(format, isTerminal)).toBe(form);
});
