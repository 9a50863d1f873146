import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkEnded,
  checksBegun,
  logFound,
  logsToCheck,
  NO_LOGS,
  planRotation,
  rotatedLogOf,
  rotatedName,
  runningListed,
} from '../../../src/model/upkeep/log-rotation.js';

const days = (from: number, count: number, suffix = '') =>
  Array.from({ length: count }, (_, index) => `0.log.2026010${from + index}-000000${suffix}`);

describe('files of earlier rotations', () => {
  it.each<{
    case: string;
    rotated: readonly string[];
    maxFiles?: number;
    remove?: readonly string[];
    compress?: readonly string[];
  }>([
    { case: 'none', rotated: [] },
    { case: 'one: it is compressed', rotated: days(1, 1), compress: days(1, 1) },
    {
      case: 'as many as there may be: the oldest makes room',
      rotated: [...days(1, 3, '.gz'), ...days(4, 1)],
      remove: days(1, 1, '.gz'),
      compress: days(4, 1),
    },
    { case: 'in any order', rotated: [...days(1, 4, '.gz')].reverse(), remove: days(1, 1, '.gz') },
    {
      case: 'more than there may be, since there may be fewer now',
      rotated: days(1, 6, '.gz'),
      maxFiles: 3,
      remove: days(1, 5, '.gz'),
    },
    { case: 'two files in all: none stays', rotated: days(1, 2), maxFiles: 2, remove: days(1, 2) },
    {
      case: 'half a compressed file',
      rotated: [...days(1, 1), ...days(1, 1, '.tmp')],
      remove: days(1, 1, '.tmp'),
      compress: days(1, 1),
    },
    {
      case: 'a compressed file beside what it was made from',
      rotated: [...days(1, 1), ...days(1, 1, '.gz')],
      remove: days(1, 1),
    },
    {
      case: 'what is unfinished takes no place',
      rotated: [...days(1, 3, '.gz'), ...days(4, 3, '.tmp')],
      remove: days(4, 3, '.tmp'),
    },
  ])('$case', ({ rotated, maxFiles = 5, remove = [], compress = [] }) => {
    expect(planRotation(rotated, maxFiles)).toEqual({ remove, compress });
  });

  it('are never more than allowed, and the newest stay', () => {
    const names = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 12 });
    fc.assert(
      fc.property(
        names,
        fc.array(fc.boolean(), { minLength: 12 }),
        fc.integer({ min: 2, max: 8 }),
        (seconds, isGz, maxFiles) => {
          const rotated = seconds.map(
            (second, index) => `l.${String(second).padStart(2, '0')}${isGz[index] ? '.gz' : ''}`,
          );
          const { remove, compress } = planRotation(rotated, maxFiles);
          const left = rotated.filter((name) => !remove.includes(name));
          expect(left).toHaveLength(Math.min(rotated.length, maxFiles - 2));
          for (const name of left) for (const gone of remove) expect(name > gone).toBe(true);
          expect(compress.toSorted()).toEqual(left.filter((name) => !name.endsWith('.gz')).toSorted());
        },
      ),
    );
  });
});

describe('the name of a rotated log', () => {
  const at = Date.UTC(2026, 11, 31, 23, 59, 58, 900);
  it.each([
    { utcOffsetMinutes: 0, name: '/l/0.log.20261231-235958' },
    { utcOffsetMinutes: 60, name: '/l/0.log.20270101-005958' },
    { utcOffsetMinutes: -570, name: '/l/0.log.20261231-142958' },
  ])('has the local time, $utcOffsetMinutes min ahead of UTC', ({ utcOffsetMinutes, name }) => {
    expect(rotatedName('/l/0.log', { at, utcOffsetMinutes }, [])).toBe(name);
  });

  it('comes after that of every rotated file, so that the newest log stays after the clock was set back', () => {
    const moment = { at, utcOffsetMinutes: 0 };
    const taken = ['l.20261231-235958', 'l.20261231-235959.gz', 'l.20270101-000001', 'other.20280101-000000'];
    expect(rotatedName('l', moment, taken)).toBe('l.20270101-000002');
    expect(rotatedName('l', moment, ['l.20261231-235957.gz', 'l.backup'])).toBe('l.20261231-235958');
    const rotated = ['l.20370101-000000.gz', 'l.20370102-000000.gz', 'l.20370103-000000'];
    const next = rotatedName('l', moment, rotated);
    expect(planRotation([...rotated, next], 5).remove).toEqual(['l.20370101-000000.gz']);
  });
});

describe('the logs of running containers', () => {
  it('each container of a listing is checked once', () => {
    expect(logsToCheck(NO_LOGS, [])).toEqual([]);
    expect(logsToCheck(NO_LOGS, ['a', 'b', 'a'])).toEqual(['a', 'b']);
  });

  it('a check that is under way is not begun again until it has ended', () => {
    const begun = checksBegun(NO_LOGS, ['a', 'b']);
    expect(logsToCheck(begun, ['a', 'b', 'c'])).toEqual(['c']);
    expect(logsToCheck(checkEnded(begun, 'b'), ['a', 'b', 'c'])).toEqual(['b', 'c']);
  });

  it('the path of a log is known while its container is listed', () => {
    const known = logFound(logFound(NO_LOGS, 'a', '/logs/a'), 'b', '/logs/b');
    expect(known.paths.get('a')).toBe('/logs/a');
    const listed = runningListed(known, ['b', 'c']);
    expect(listed.paths.get('a')).toBeUndefined();
    expect(listed.paths.get('b')).toBe('/logs/b');
    expect(listed.paths.get('c')).toBeUndefined();
    expect(runningListed(listed, ['b'])).toBe(listed);
  });

  it('a listing ends no check', () => {
    expect(logsToCheck(runningListed(checksBegun(NO_LOGS, ['a']), []), ['a'])).toEqual([]);
  });

  it.each([
    { case: 'runs', status: { state: 'CONTAINER_RUNNING', logPath: '/l' }, path: '/l' },
    { case: 'has no log', status: { state: 'CONTAINER_RUNNING', logPath: '' }, path: undefined },
    { case: 'has ended', status: { state: 'CONTAINER_EXITED', logPath: '/l' }, path: undefined },
    { case: 'has no status', status: undefined, path: undefined },
  ] as const)('the log of a container that $case is rotated at the path $path', ({ status, path }) => {
    expect(rotatedLogOf(status)).toBe(path);
  });
});
