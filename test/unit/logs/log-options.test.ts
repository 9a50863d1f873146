import { describe, expect, it } from 'vitest';
import { type LogOptions, logOptionProblems } from '../../../src/model/logs/log-options.js';

const NONE: LogOptions = { follow: false, previous: false, timestamps: false, stream: 'All' };

describe('a request for a log', () => {
  it.each<[string, Partial<LogOptions>, string[]]>([
    ['without options', {}, []],
    ['for no line', { tailLines: 0 }, []],
    ['for less than no line', { tailLines: -1 }, ['tailLines: Invalid value: -1: must be greater than or equal to 0']],
    ['for one byte', { limitBytes: 1 }, []],
    ['for no byte', { limitBytes: 0 }, ['limitBytes: Invalid value: 0: must be greater than 0']],
    ['since a second ago', { sinceSeconds: 1 }, []],
    ['since now', { sinceSeconds: 0 }, ['sinceSeconds: Invalid value: 0: must be greater than 0']],
    ['since a time', { sinceTime: '2026-01-31T12:00:00Z' }, []],
    [
      'since two times',
      { sinceSeconds: 0, sinceTime: '2026-01-31T12:00:00Z' },
      ['at most one of `sinceTime` or `sinceSeconds` may be specified'],
    ],
    ['for a stream', { stream: 'Stderr' }, []],
    [
      'for the last lines of a stream',
      { stream: 'Stdout', tailLines: 0 },
      ['`tailLines` and specific `stream` are mutually exclusive for now'],
    ],
    [
      'with several problems',
      { tailLines: -2, limitBytes: -3 },
      [
        'tailLines: Invalid value: -2: must be greater than or equal to 0',
        'limitBytes: Invalid value: -3: must be greater than 0',
      ],
    ],
  ])('%s', (_, options, problems) => {
    expect(logOptionProblems({ ...NONE, ...options })).toEqual(problems);
  });
});
