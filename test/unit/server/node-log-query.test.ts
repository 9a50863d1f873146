import { describe, expect, it } from 'vitest';
import { journalctlArguments } from '../../../src/model/server/journalctl-arguments.js';
import { nodeLogQuery, placeServices } from '../../../src/model/server/node-log-query.js';
import { patternProblem } from '../../../src/model/server/pattern-problem.js';

const read = (query: string) => nodeLogQuery(new URLSearchParams(query));

describe('a query of node logs', () => {
  it.each([
    ['', { kind: 'none' }],
    ['other=1&tailLines=', { kind: 'none' }],
    ['query=kubelet', { kind: 'services', services: ['kubelet'], options: {} }],
    ['query=a&query=b&query=%20', { kind: 'services', services: ['a', 'b'], options: {} }],
    [
      'query=getty@tty1.service&boot=-1&tailLines=100000&pattern=(%3Fi)x',
      {
        kind: 'services',
        services: ['getty@tty1.service'],
        options: { boot: -1, tailLines: 100_000, pattern: '(?i)x' },
      },
    ],
    [
      'query=a&sinceTime=2026-01-31T12:00:00%2B02:00&untilTime=2026-01-31T10:00:00Z&boot=0&tailLines=0',
      {
        kind: 'services',
        services: ['a'],
        options: {
          sinceTime: Date.UTC(2026, 0, 31, 10),
          untilTime: Date.UTC(2026, 0, 31, 10),
          boot: 0,
          tailLines: 0,
        },
      },
    ],
    ['query=/syslog', { kind: 'file', path: '/syslog' }],
    ['query=pods%5Ca.log', { kind: 'file', path: 'pods/a.log' }],
  ])('%s is read', (query, expected) => {
    expect(read(query)).toEqual(expected);
  });

  const TIME = 'sinceTime: Invalid value: "yesterday": invalid time format';
  it.each([
    ['query=', 'query: Invalid value: [""]: query cannot be empty\n'],
    ['query=%20%20', 'query: Invalid value: ["  "]: query cannot be empty\n'],
    ['query=a&sinceTime=yesterday', `${TIME}\n`],
    [
      'query=a&untilTime=2026-13-01T00:00:00Z',
      'untilTime: Invalid value: "2026-13-01T00:00:00Z": invalid time format\n',
    ],
    ['query=a&boot=x', 'boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax\n'],
    [
      'sinceTime=yesterday&tailLines=1.5',
      `[${TIME}, tailLines: Invalid value: "1.5": strconv.Atoi: parsing "1.5": invalid syntax]\n`,
    ],
  ])('%s cannot be read: 400', (query, text) => {
    expect(read(query)).toEqual({ kind: 'refused', status: 400, text });
  });

  it.each([
    ['tailLines=1', 'query: Required value: cannot be empty with options\n'],
    ['query=a&query=/b', 'query: Invalid value: "[/b], [a]": cannot specify a file and service\n'],
    ['query=/a&query=/b', 'query: Invalid value: ["/a","/b"]: cannot specify more than one file\n'],
    ['query=/a&boot=0', 'query: Invalid value: ["/a"]: cannot specify file with options\n'],
    ['query=a&query=b&query=c&query=d&query=e', 'query: Too many: 5: must have at most 4 items\n'],
    ['query=a%3Bb', 'query: Invalid value: "a;b": input contains unsupported characters\n'],
    ['query=a%0Ab', 'query: Invalid value: "a\\nb": input contains unsupported characters\n'],
    ['query=a&boot=1', 'boot: Invalid value: 1: must be less than 1\n'],
    ['query=a&tailLines=-1', 'tailLines: Invalid value: -1: must be between 0 and 100000, inclusive\n'],
    ['query=a&tailLines=100001', 'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive\n'],
    [
      'query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z',
      'untilTime: Invalid value: "2026-01-01T00:00:00.000Z": must be after `sinceTime`\n',
    ],
    ['query=a&pattern=(', 'pattern: Invalid value: "(": error parsing regexp: Unterminated group\n'],
    [
      'query=a%20b&boot=2',
      '[query: Invalid value: "a b": input contains unsupported characters, boot: Invalid value: 2: must be less than 1]\n',
    ],
  ])('%s is not allowed: 406', (query, text) => {
    expect(read(query)).toEqual({ kind: 'refused', status: 406, text });
  });

  it('has a service and a pattern of limited length', () => {
    expect(read(`query=${'a'.repeat(256)}`)).toMatchObject({ kind: 'services' });
    expect(read(`query=${'a'.repeat(257)}`)).toMatchObject({ status: 406 });
    expect(read(`query=a&pattern=${'a'.repeat(4_096)}`)).toMatchObject({ kind: 'services' });
    expect(read(`query=a&pattern=${'a'.repeat(4_097)}`)).toMatchObject({ status: 406 });
  });
});

describe('a pattern', () => {
  it.each([
    'error',
    '(?i)warn|fail',
    '(?P<n>a)\\k<n>',
    '(?i:a)b',
    '(?-s)a',
    '[[:alpha:]]+',
    '\\Q(\\E',
    'a{2,3}?',
    '\\d+',
  ])('%s is accepted', (pattern) => {
    expect(patternProblem(pattern)).toBeUndefined();
  });

  it.each(['(', ')', '[', '*a', 'a**', '(?<n', 'a\0b', '\\'])('%j is refused', (pattern) => {
    expect(patternProblem(pattern)).toMatch(/^error parsing regexp: ./);
  });
});

describe('the arguments of journalctl', () => {
  it('have each value in the argument of its option', () => {
    expect(journalctlArguments({ services: ['a', '-b'], options: {} })).toEqual([
      '--utc',
      '--no-pager',
      '--output=short-precise',
      '--unit=a',
      '--unit=-b',
    ]);
    const options = { sinceTime: 999, untilTime: 86_400_000, tailLines: 5, boot: -2, pattern: '--help; $(id)' };
    expect(journalctlArguments({ services: ['a'], options }).slice(3)).toEqual([
      '--since=1970-01-01 00:00:00 UTC',
      '--until=1970-01-02 00:00:00 UTC',
      '--lines=5',
      '--unit=a',
      '--grep=--help; $(id)',
      '--case-sensitive=false',
      '--boot=-2',
    ]);
  });
});

it.each([
  { case: 'units of the journal', units: ['a.service', 'b'], inJournal: ['a', 'b'], inFiles: ['c'] },
  { case: 'nothing in the journal', units: [], inJournal: [], inFiles: ['a', 'b', 'c'] },
  { case: 'a journal that is not available', units: undefined, inJournal: [], inFiles: ['a', 'b', 'c'] },
  { case: 'a unit of another kind', units: ['a.socket', 'c.service'], inJournal: ['c'], inFiles: ['a', 'b'] },
])('the services of a query are placed by $case', ({ units, inJournal, inFiles }) => {
  expect(placeServices(['a', 'b', 'c'], units && new Set(units))).toEqual({ inJournal, inFiles });
});
