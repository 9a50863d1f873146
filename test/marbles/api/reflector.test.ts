import { map, takeUntil, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { reflector } from '../../../src/streams/api/reflector.js';
import { empty, failing, follow, lines, noLog, word } from './reflector-story.js';
import { internal, listOf, objectOf, scriptedApi, story, tooMany, unauthorized } from './scripted-api.js';

describe('a reflector', () => {
  it('lists what there may be in a cache, then watches from there; bookmarks say nothing', () => {
    expect(
      follow(20, (cold) => ({
        lists: [cold('--(l|)', { l: listOf(5, [objectOf('z', 3)]) })],
        watches: [cold('-o-a-b-m-x-k', lines)],
      })),
    ).toEqual(['0 list 0 limit=500', '2 5: z', '2 watch 5 for 300 s', '5 +a', '7 +b', '9 +a', '11 -b']);
  });

  it('asks for what is selected', () => {
    expect(
      follow(1, () => ({ lists: [empty] }), { fieldSelector: 'spec.nodeName=n', labelSelector: 'x=y', random: 0.999 }),
    ).toEqual([
      '0 list 0 fieldSelector=spec.nodeName=n labelSelector=x=y limit=500',
      '0 5:',
      '0 watch 5 for 599 s fieldSelector=spec.nodeName=n labelSelector=x=y',
    ]);
  });

  it('watches again at once, from where it was, when the server ends a watch that was not a very short one', () => {
    expect(
      follow(3_000, (cold) => ({
        lists: [empty],
        watches: [cold('o-a-k|', lines), cold('o 999ms |', lines), cold('o', lines)],
      })),
    ).toEqual([
      '0 list 0 limit=500',
      '0 5:',
      '0 watch 5 for 300 s',
      '2 +a',
      '5 watch 10 for 300 s',
      '1005 watch 10 for 300 s',
    ]);
  });

  it('waits and lists after a watch of less than a second without anything in it', () => {
    expect(
      follow(2_000, (cold) => ({ lists: [empty, empty], watches: [cold('o 998ms |', lines), cold('o', lines)] })),
    ).toEqual([
      '0 list 0 limit=500',
      '0 5:',
      '0 watch 5 for 300 s',
      '999 warning: the server ended the watch within a second, with nothing new in it',
      '1799 list 5',
      '1799 5:',
      '1799 watch 5 for 300 s',
    ]);
  });

  it('says that it is well again when a watch has lived for a second or has said something', () => {
    const watching = (again: string) =>
      follow(3_000, (cold) => ({
        lists: [failing(internal), empty],
        watches: [cold(again, lines)],
      })).slice(-2);
    expect(watching('--o')).toEqual(['800 watch 5 for 300 s', '1802 well']);
    expect(watching('--o-a').slice(-1)).toEqual(['804 +a']);
    expect(watching('--o-a').slice(0, 1)).toEqual(['804 well']);
  });

  it('waits between lists from 0.8 s to 30 s, each twice as long, and from the start again after two minutes', () => {
    const asked = follow(142_000, () => ({ lists: Array.from({ length: 20 }, () => failing(internal)) }));
    expect(asked.filter((what) => what.includes('list')).map((what) => Number(what.split(' ')[0]))).toEqual([
      0, 800, 2_400, 5_600, 12_000, 24_800, 50_400, 80_400, 110_400, 140_400, 141_200,
    ]);
  });

  it('waits up to twice as long by chance', () => {
    expect(
      follow(5_000, () => ({ lists: [failing(internal), failing(internal)] }), { random: 0.5 }).filter((what) =>
        what.includes('list'),
      ),
    ).toEqual(['0 list 0 limit=500', '1200 list 0 limit=500', '3600 list 0 limit=500']);
  });

  it('waits as long as the server asks for, and for a minute at most', () => {
    const waited = (seconds: number) =>
      follow(70_000, () => ({ lists: [failing(tooMany(seconds)), empty] }))
        .filter((what) => what.includes('list'))
        .map((what) => Number(what.split(' ')[0]));
    expect(waited(7)).toEqual([0, 7_000]);
    expect(waited(3_600)).toEqual([0, 60_000]);
  });

  it('says a failure once, until things have worked', () => {
    const said = follow(30_000, (cold) => ({
      lists: [
        failing(internal),
        failing(unauthorized),
        failing(internal),
        failing(unauthorized),
        empty,
        failing(internal),
      ],
      watches: [cold('o 1s I', lines)],
    }));
    expect(
      said.filter((what) => / (error|warning|debug|well)/.test(what)).map((what) => what.replace(/^\d+ /, '')),
    ).toEqual([
      'error: etcd is not there',
      'error: Unauthorized',
      'debug: etcd is not there',
      'debug: Unauthorized',
      'well',
      'warning: etcd',
      'error: etcd is not there',
    ]);
  });

  it.each([
    [2, '2 list 0 limit=500 given up'],
    [7, '7 watch 5 for 300 s given up'],
  ])('that nobody listens to after %i ms gives up what it has asked', (untilMs, expected) => {
    const told = story(20, ({ scheduler, cold, tell }) =>
      reflector(
        {
          api: scriptedApi({ lists: [cold('---(l|)', { l: listOf(5, []) })] }, tell),
          scheduler,
          random: () => 0,
          log: noLog,
        },
        { path: '/api/v1/things', name: 'things' },
      ).pipe(map(word), takeUntil(timer(untilMs, scheduler))),
    );
    expect(told.at(-1)).toBe(expected);
  });

  it('logs what it says of problems, at their level', () => {
    const logged: string[] = [];
    const to = (level: string) => (_fields: object, message: string) => void logged.push(`${level}: ${message}`);
    const log = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') };
    story(5_000, ({ scheduler, cold, tell }) =>
      reflector(
        {
          api: scriptedApi(
            { lists: [failing(internal), failing(internal), empty], watches: [cold('o 2s T', lines)] },
            tell,
          ),
          scheduler,
          random: () => 0,
          log,
        },
        { path: '/api/v1/things', name: 'things' },
      ).pipe(map(word)),
    );
    expect(logged).toEqual([
      'error: following objects of the API server has failed',
      'debug: following objects of the API server has failed',
      'info: objects of the API server are followed again',
      'debug: following objects of the API server has failed',
    ]);
  });
});
