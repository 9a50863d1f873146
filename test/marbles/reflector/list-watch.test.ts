import { map, NEVER, of, type Observable } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import { reflector } from '../../../src/streams/reflector/reflector.js';
import { expectLanes } from '../lanes.js';
import { empty, failing, follow, followClosely, lines, noLog, word } from './reflector-story.js';
import {
  expired,
  internal,
  line,
  listOf,
  objectOf,
  opened,
  refused,
  reset,
  scriptedApi,
  story,
  tooLarge,
  tooMany,
  unauthorized,
} from './scripted-api.js';

describe('a list', () => {
  it('is read in pages of 500, as of the first one', () => {
    expect(
      follow(9, (cold) => ({
        lists: [
          cold('-(l|)', { l: listOf(5, [objectOf('a', 1)], 'more') }),
          cold('-(l|)', { l: listOf(6, [objectOf('b', 2)], 'rest') }),
          cold('-(l|)', { l: listOf(7, [objectOf('c', 3)]) }),
        ],
      })),
    ).toEqual([
      '0 list 0 limit=500',
      '1 list newest limit=500 continue=more',
      '2 list newest limit=500 continue=rest',
      '3 5: a b c',
      '3 watch 5 for 300 s',
    ]);
  });

  it('whose later page is gone is read as a whole', () => {
    expect(
      follow(9, () => ({
        lists: [of(listOf(5, [objectOf('a', 1)], 'more')), failing(expired), of(listOf(8, [objectOf('b', 2)]))],
      })),
    ).toEqual([
      '0 list 0 limit=500',
      '0 list newest limit=500 continue=more',
      '0 list 0',
      '0 8: b',
      '0 watch 8 for 300 s',
    ]);
  });

  it('comes in pages again when the first one did, for then there is no cache', () => {
    const relisted = (next?: string) =>
      follow(900, (cold) => ({
        lists: [of(listOf(5, [], next)), ...(next === undefined ? [] : [empty]), empty],
        watches: [cold('(oG)', lines)],
      })).find((what) => what.startsWith('800 list'));
    expect(relisted()).toBe('800 list 5');
    expect(relisted('more')).toBe('800 list 5 limit=500');
  });

  it('gets the type of its items from its own', () => {
    const types: unknown[] = [];
    story(1, ({ scheduler, tell }) =>
      reflector(
        {
          api: scriptedApi({ lists: [of(listOf(5, [objectOf('a', 1)]))] }, tell),
          scheduler,
          random: () => 0,
          log: noLog,
        },
        { path: '/api/v1/things', name: 'things' },
      ).pipe(
        map((event) => {
          if (event.kind === 'replaced') types.push(...event.objects);
          return word(event);
        }),
      ),
    );
    expect(types).toEqual([{ apiVersion: 'v1', kind: 'Thing', ...objectOf('a', 1) }]);
  });

  it.each([
    ['nothing', {}, 'the answer is no list: expected metadata, and items as an array'],
    ['a text', 'sorry', 'the answer is no list: expected metadata, and items as an array'],
    ['an item without metadata', listOf(5, [{}]), 'items[0] has no metadata'],
  ])('that is %s is a failure', (_what, body, expected) => {
    expect(follow(1, () => ({ lists: [of(body)] })).at(-1)).toBe(`0 error: GET /api/v1/things: ${expected}`);
  });

  it('that fails as the caller expects is no more than a note', () => {
    const told = (isExpected?: (error: unknown) => boolean) =>
      follow(1, () => ({ lists: [failing(internal)] }), isExpected && { isExpected }).at(-1);
    expect(told()).toBe('0 error: etcd is not there');
    expect(told((error) => error === internal)).toBe('0 debug: etcd is not there');
    expect(told(() => false)).toBe('0 error: etcd is not there');
  });

  it('without an answer is a problem after 10 s and given up after 90 s', () => {
    const told = followClosely(91_000, () => ({ lists: [NEVER] }));
    expectLanes(told, { everyMs: 400 }).toBe('l 9600ms w 79600ms (xe)-l', {
      l: 'list 0 limit=500',
      w: 'warning: a list takes longer than 10 s',
      x: 'list 0 limit=500 given up',
      e: 'error: GET /api/v1/things: no answer within 90 s',
    });
  });

  it('that is slow is taken all the same', () => {
    expect(
      follow(60_000, (cold) => ({ lists: [cold('50s (l|)', { l: listOf(5, []) })], watches: [cold('o')] })).slice(1, 3),
    ).toEqual(['10000 warning: a list takes longer than 10 s', '50000 5:']);
  });

  it.each([
    ['the version that was reached is gone', failing(expired)],
    ['the server does not know that version, as its data has been restored', failing(tooLarge)],
    ['the server gives something older all the same', of(listOf(4, []))],
  ])('of which %s is asked for at once as of now', (_what, answer) => {
    expect(
      follow(900, (cold) => ({
        lists: [empty, answer, of(listOf(3, [objectOf('old', 2)]))],
        watches: [cold('(oG)', lines)],
      })),
    ).toEqual([
      '0 list 0 limit=500',
      '0 5:',
      '0 watch 5 for 300 s',
      '0 debug: too old',
      '800 list 5',
      '800 list newest limit=500',
      '800 3: old',
      '800 watch 3 for 300 s',
    ]);
  });

  it('goes on as of now until one has come, and then as of what is known', () => {
    expect(
      follow(6_000, (cold) => ({
        lists: [empty, failing(expired), failing(internal), of(listOf(7, [])), of(listOf(7, []))],
        watches: [cold('(oG)', lines), cold('(oG)', lines)],
      })).filter((what) => what.includes(' list ')),
    ).toEqual([
      '0 list 0 limit=500',
      '800 list 5',
      '800 list newest limit=500',
      '2400 list newest limit=500',
      '5600 list 7',
    ]);
  });

  it('is never older than what an earlier run has seen', () => {
    expect(follow(1, () => ({ lists: [of(listOf(41, [])), of(listOf(43, []))] }), { notOlderThan: '42' })).toEqual([
      '0 list 42',
      '0 list newest limit=500',
      '0 43:',
      '0 watch 43 for 300 s',
    ]);
  });
});

describe('a watch', () => {
  it.each<
    [how: string, watch: (cold: TestScheduler['createColdObservable']) => Observable<ApiWatchMessage>, severity: string]
  >([
    ['that is refused', () => failing(refused), 'warning: connect ECONNREFUSED 127.0.0.1:6443'],
    ['that is too much for the server', () => failing(tooMany()), 'warning: too many'],
    ['that the server ends because it is busy', (cold) => cold('(oT)', lines), 'debug: busy'],
  ])('%s is tried again after a wait, without a list', (_how, watch, severity) => {
    expect(
      follow(5_000, (cold) => ({ lists: [empty], watches: [watch(cold), watch(cold), cold('o', lines)] })),
    ).toEqual([
      '0 list 0 limit=500',
      '0 5:',
      '0 watch 5 for 300 s',
      `0 ${severity}`,
      '800 watch 5 for 300 s',
      `800 ${severity.replace('warning', 'debug')}`,
      '2400 watch 5 for 300 s',
      ...(severity.startsWith('warning') ? ['3400 well'] : []),
    ]);
  });

  it.each<
    [how: string, watch: (cold: TestScheduler['createColdObservable']) => Observable<ApiWatchMessage>, severity: string]
  >([
    ['that cannot begin', () => failing(internal), 'error: etcd is not there'],
    ['for which the credentials do not hold', () => failing(unauthorized), 'error: Unauthorized'],
    ['whose version is gone', () => failing(expired), 'debug: too old resource version'],
    ['whose connection breaks before its answer', () => failing(reset), 'error: read ECONNRESET'],
    ['in which the version turns out to be gone', (cold) => cold('(oG)', lines), 'debug: too old'],
    ['that the server breaks off', (cold) => cold('(oI)', lines), 'warning: etcd'],
  ])('%s makes it wait and list, at least as new as before', (_how, watch, severity) => {
    expect(follow(900, (cold) => ({ lists: [empty, of(listOf(6, []))], watches: [watch(cold)] }))).toEqual([
      '0 list 0 limit=500',
      '0 5:',
      '0 watch 5 for 300 s',
      `0 ${severity}`,
      '800 list 5',
      '800 6:',
      '800 watch 6 for 300 s',
    ]);
  });

  it('whose connection is reset goes on at once where it was; what comes a second time is not said again', () => {
    expect(
      follow(9, (cold) => ({
        lists: [empty],
        watches: [cold('o-a-b-#', lines, reset), cold('o-(bm)', lines)],
      })),
    ).toEqual([
      '0 list 0 limit=500',
      '0 5:',
      '0 watch 5 for 300 s',
      '2 +a',
      '4 +b',
      '6 debug: read ECONNRESET',
      '6 watch 7 for 300 s',
      '8 +a',
    ]);
  });

  it('whose connection is reset again and again without anything new makes it wait and list', () => {
    expect(
      follow(3_300, (cold) => ({
        lists: [empty, empty, empty],
        watches: [cold('o-#', lines, reset), cold('o-#', lines, reset)],
      })).filter((what) => what.includes('list')),
    ).toEqual(['0 list 0 limit=500', '802 list 5', '2404 list 5']);
  });

  it('of a server whose history is too short waits longer each time', () => {
    const storm = Array.from({ length: 6 }, () => empty);
    expect(
      follow(30_000, (cold) => ({ lists: storm, watches: storm.map(() => cold('(oG)', lines)) }))
        .filter((what) => what.includes(' list '))
        .map((what) => what.split(' ')[0]),
    ).toEqual(['0', '800', '2400', '5600', '12000', '24800']);
  });

  it('that is silent for 90 s is started again, and a second one in a row makes it list', () => {
    const said = followClosely(181_000, (cold) => ({
      lists: [empty, of(listOf(6, []))],
      watches: [cold('o', lines), cold('o', lines), cold('o', lines)],
    }));
    expectLanes(said, { everyMs: 400 }).toBe('(l5w) 89600ms (xsw) 89600ms (xs)-(L6W)', {
      l: 'list 0 limit=500',
      5: '5:',
      w: 'watch 5 for 300 s',
      x: 'watch 5 for 300 s given up',
      s: 'debug: the watch has been silent for too long',
      L: 'list 5',
      6: '6:',
      W: 'watch 6 for 300 s',
    });
  });

  it('in which something comes every 90 s lives on', () => {
    const told = follow(299_000, (cold) => ({
      lists: [empty],
      watches: [cold('o 89998ms a 89998ms b 89998ms m', lines)],
    }));
    expect(told.filter((what) => what.includes('watch'))).toEqual(['0 watch 5 for 300 s']);
  });

  it('that stalls after a message is started again each time', () => {
    const stalling = ['a', 'b', 'm', 'x'];
    expect(
      follow(360_500, (cold) => ({ lists: [empty], watches: stalling.map((what) => cold(`o${what}`, lines)) })).filter(
        (what) => what.includes('list') || what.includes('+') || what.includes('-'),
      ),
    ).toEqual(['0 list 0 limit=500', '1 +a', '90002 +b', '180003 +a', '270004 -b']);
  });

  it('that is not even answered for 90 s makes it list', () => {
    expect(followClosely(91_000, () => ({ lists: [empty, empty] })).slice(3)).toEqual([
      '90000 watch 5 for 300 s given up',
      '90000 warning: the server has not answered',
      '90800 list 5',
      '90800 5:',
      '90800 watch 5 for 300 s',
    ]);
  });

  it('of a server that has gone back in time makes it list as of now', () => {
    const error = 'the server sent version 6 after version 10';
    expect(
      follow(900, (cold) => ({
        lists: [of(listOf(10, [objectOf('z', 9)])), of(listOf(7, [objectOf('a', 6)]))],
        watches: [cold('oa', lines)],
      })),
    ).toEqual([
      '0 list 0 limit=500',
      '0 10: z',
      '0 watch 10 for 300 s',
      `1 warning: ${error}`,
      '801 list newest limit=500',
      '801 7: a',
      '801 watch 7 for 300 s',
    ]);
  });

  it('leaves out what is no object, and goes on', () => {
    const odd = {
      o: opened,
      p: line('ADDED', { metadata: {} }),
      q: line('MODIFIED', 7),
      a: line('ADDED', objectOf('a', 6)),
    };
    expect(follow(9, (cold) => ({ lists: [empty], watches: [cold('opqa', odd)] })).slice(3)).toEqual([
      '1 error: the watch event ADDED has no metadata.name',
      '2 error: the watch event MODIFIED is no object: 7',
      '3 well',
      '3 +a',
    ]);
  });

  it('from no version receives the objects in any order, and has a position only after that', () => {
    const any = {
      o: opened,
      a: line('ADDED', objectOf('a', 9)),
      b: line('ADDED', objectOf('b', 4)),
      m: line('MODIFIED', objectOf('b', 10)),
    };
    const watches = (first: string) =>
      follow(9, (cold) => ({ lists: [of({ metadata: {}, items: [] })], watches: [cold(first, any)] })).slice(2);
    expect(watches('oab|')).toEqual(['0 watch newest for 300 s', '1 +a', '2 +b', '3 watch newest for 300 s']);
    expect(watches('oabm|')).toEqual(['0 watch newest for 300 s', '1 +a', '2 +b', '3 +b', '4 watch 10 for 300 s']);
  });
});
