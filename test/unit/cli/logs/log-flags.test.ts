import { describe, expect, it } from 'vitest';
import {
  logDate,
  logDuration,
  type LogFlags,
  logNumber,
  readLogFlags,
  requestedContainer,
} from '../../../../src/cli/logs/log-flags.js';
import type { LogOptions } from '../../../../src/model/logs/log-options.js';

const FLAGS: LogFlags = {
  ...{ follow: false, previous: false, timestamps: false, tail: -1, since: 0, limitBytes: 0, stream: 'all' },
  ...{ rootDir: '', podLogsDir: '', containerRuntimeEndpoint: '' },
};

describe('the flags of logs', () => {
  it.each<[Partial<LogFlags>, Partial<LogOptions>]>([
    [{}, {}],
    [
      { follow: true, previous: true, timestamps: true },
      { follow: true, previous: true, timestamps: true },
    ],
    [{ tail: 0 }, { tailLines: 0 }],
    [{ tail: 7 }, { tailLines: 7 }],
    [{ since: 300_000 }, { sinceSeconds: 300 }],
    [{ since: 1_500 }, { sinceSeconds: 2 }],
    [{ sinceTime: '2026-01-31T12:00:00Z' }, { sinceTime: '2026-01-31T12:00:00Z' }],
    [{ limitBytes: 9 }, { limitBytes: 9 }],
    [{ stream: 'stderr' }, { stream: 'Stderr' }],
  ])('%j', (flags, options) => {
    const none: LogOptions = { follow: false, previous: false, timestamps: false, stream: 'All' };
    expect(readLogFlags({ ...FLAGS, ...flags })).toEqual({ ...none, ...options });
  });

  it.each<[Partial<LogFlags>, string]>([
    [{ tail: -2 }, '--tail must be greater than or equal to -1'],
    [{ since: -1_000 }, '--since must be greater than 0'],
    [{ since: 400 }, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    [{ limitBytes: -1 }, '--limit-bytes must be greater than 0'],
    [
      { since: 1_000, sinceTime: '2026-01-31T12:00:00Z' },
      'at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    [{ stream: 'stdout', tail: 3 }, '`tailLines` and specific `stream` are mutually exclusive for now'],
  ])('%j are refused', (flags, message) => {
    expect(() => readLogFlags({ ...FLAGS, ...flags })).toThrow(message);
  });

  it('have values that say what is expected', () => {
    expect(logNumber('-1')).toBe(-1);
    expect(() => logNumber('1.5')).toThrow('expected a whole number');
    expect(() => logNumber('ten')).toThrow('expected a whole number');
    expect(logDuration('2m')).toBe(120_000);
    expect(() => logDuration('2 min')).toThrow('expected a duration such as 5s, 2m or 3h');
    expect(logDate('2026-01-31T12:00:00+01:00')).toBe('2026-01-31T12:00:00+01:00');
    expect(() => logDate('yesterday')).toThrow('expected RFC 3339 such as 2026-01-31T12:00:00Z');
  });

  it('name the container once', () => {
    expect(requestedContainer(undefined, undefined)).toBeUndefined();
    expect(requestedContainer('a', undefined)).toBe('a');
    expect(requestedContainer(undefined, 'b')).toBe('b');
    expect(() => requestedContainer('a', 'a')).toThrow('only one of -c or an inline [CONTAINER] arg is allowed');
  });
});
