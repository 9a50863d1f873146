import { map, takeUntil, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { reflector } from '../../../src/streams/reflector/reflector.js';
import { expectLanes, linesOf } from '../lanes.js';
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
    const told = follow(2_000, (cold) => ({
      lists: [empty, empty],
      watches: [cold('o 998ms |', lines), cold('o', lines)],
    }));
    expectLanes(told, { everyMs: 1 }).toBe('(l5w) 998ms e 799ms (L5w)', {
      l: 'list 0 limit=500',
      5: '5:',
      w: 'watch 5 for 300 s',
      e: 'warning: the server ended the watch within a second, with nothing new in it',
      L: 'list 5',
    });
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
    expectLanes(linesOf(asked, 'list'), { everyMs: 400 }).toBe({
      list: 'l-l---l-------l 6s l 12400ms l 25200ms l 29600ms l 29600ms l 29600ms l-l',
    });
  });

  it('waits up to twice as long by chance', () => {
    const asked = follow(5_000, () => ({ lists: [failing(internal), failing(internal)] }), { random: 0.5 });
    expectLanes(linesOf(asked, 'list'), { everyMs: 400 }).toBe({ list: 'l--l-----l' });
  });

  it('waits as long as the server asks for, and for a minute at most', () => {
    const asked = (seconds: number) =>
      linesOf(
        follow(70_000, () => ({ lists: [failing(tooMany(seconds)), empty] })),
        'list',
      );
    expectLanes(asked(7), { everyMs: 1_000 }).toBe({ list: 'l------l' });
    expectLanes(asked(3_600), { everyMs: 1_000 }).toBe({ list: 'l 59s l' });
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
  ])('that is unsubscribed after %i ms cancels its request', (untilMs, expected) => {
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
      'error: cannot watch objects of the API server',
      'debug: cannot watch objects of the API server',
      'info: objects of the API server are watched again',
      'debug: cannot watch objects of the API server',
    ]);
  });
});
