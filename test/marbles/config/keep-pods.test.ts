import { concat, defer, ignoreElements, map, NEVER, type Observable, of, throwError, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { errorText } from '../../../src/model/cri/cri-error.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { keepPods, type KeptPods } from '../../../src/streams/config/keep-pods.js';
import type { KnownPods } from '../../../src/streams/ports/last-known.js';
import { expectLanes } from '../lanes.js';
import { story } from '../reflector/scripted-api.js';

/** Pods by their letters; a change of status only shows in the version. */
const knownOf = (letters: string, version: number): KnownPods => ({
  pods: [...letters].map((uid): Pod => ({
    metadata: { uid, name: uid, namespace: 'default' },
    spec: { containers: [] },
  })),
  resourceVersion: String(version),
  at: 0,
});
const sets = Object.fromEntries(
  [
    ['1', 'a'],
    ['2', 'a'],
    ['3', 'a'],
    ['4', 'ab'],
    ['5', 'ab'],
    ['6', 'abc'],
    ['7', 'b'],
  ].map(([version = '', letters = '']) => [version, knownOf(letters, Number(version))]),
);

const word = (news: KeptPods): string => {
  switch (news.kind) {
    case 'pods':
      return `pass ${news.known.resourceVersion}`;
    case 'kept':
      return 'kept';
    case 'not-kept':
      return errorText(news.error);
  }
};

/** What is written and passed on, with the time of each. `writes`: how long each takes, or how it fails; later ones take no time. */
const keep = (
  untilMs: number,
  picture: string,
  { onDisk = '', writes = [] }: { readonly onDisk?: string; readonly writes?: readonly (number | 'fails')[] } = {},
): readonly string[] =>
  story(untilMs, ({ scheduler, cold, tell }) => {
    const turns = [...writes];
    const writePods = ({ resourceVersion }: KnownPods): Observable<never> =>
      defer(() => {
        tell(`write ${resourceVersion}`);
        return writing(turns.shift() ?? 0, scheduler);
      });
    return cold<KnownPods>(picture, sets).pipe(keepPods(writePods, onDisk, scheduler), map(word));
  });

const writing = (how: number | 'fails', scheduler: TestScheduler): Observable<never> =>
  how === 'fails'
    ? throwError(() => new Error('disk full'))
    : concat(how === 0 ? of(0) : timer(how, scheduler)).pipe(ignoreElements());

describe('pods', () => {
  it('that are on disk already pass at once, and are written beside that', () => {
    expect(keep(9, '-1', { onDisk: 'a', writes: [5] })).toEqual(['1 write 1', '1 pass 1', '6 kept']);
  });

  it('with a new one among them pass when they are on disk', () => {
    expect(keep(9, '-4', { onDisk: 'a', writes: [5] })).toEqual(['1 write 4', '6 pass 4', '6 kept']);
  });

  it('that arrive while a new one is written follow it, the newest of them', () => {
    expect(keep(20, '4-57', { writes: [5] })).toEqual(['0 write 4', '5 pass 4', '5 pass 7', '5 kept']);
  });

  it('with another new one wait for a write of their own, which comes at once', () => {
    expect(keep(20, '4-6', { writes: [5, 5] })).toEqual([
      '0 write 4',
      '5 pass 4',
      '5 kept',
      '5 write 6',
      '10 pass 6',
      '10 kept',
    ]);
  });

  it('with a new one that is gone again wait no longer', () => {
    expect(keep(200, '1 99ms 4-2', { onDisk: 'a', writes: [500] })).toEqual([
      '0 write 1',
      '0 pass 1',
      '102 pass 4',
      '102 pass 2',
    ]);
  });

  it('without a new one are written at most once a second, the newest of them', () => {
    expectLanes(keep(2_100, '12 500ms 3 600ms 2', { onDisk: 'a' }), { everyMs: 1 }).toBe({
      write: '1- 500ms - 497ms 3 102ms - 896ms 2',
      pass: ' 12 500ms 3 497ms - 102ms 2 896ms -',
      kept: ' k- 500ms - 497ms k 102ms - 896ms k',
    });
  });

  it('with a new one are written without that pause', () => {
    expectLanes(keep(900, '12 500ms 4', { onDisk: 'a' }), { everyMs: 1 }).toBe({
      write: '1- 500ms 4',
      pass: ' 12 500ms 4',
      kept: ' k- 500ms k',
    });
  });

  it('pass after 1 s when the disk is slow, and those after them at once until it has caught up', () => {
    expectLanes(keep(6_000, '1 199ms 4 2s 6 3s 7', { writes: [4_000] }), { everyMs: 1 }).toBe({
      write: '1 999ms -    1200ms - 1798ms 6    1201ms 7',
      pass: ' - 999ms (14) 1200ms 6 1798ms -    1201ms 7',
      kept: ' - 999ms -    1200ms - 1798ms (kk) 1201ms k',
    });
  });

  it('wait for a disk again once it has caught up', () => {
    expect(keep(4_000, '1 1999ms 4', { writes: [1_500, 7] }).slice(-3)).toEqual([
      '2000 write 4',
      '2007 pass 4',
      '2007 kept',
    ]);
  });

  it('pass when they cannot be written, which is tried again with the next new pod or after 10 s', () => {
    expectLanes(keep(11_000, '1-2-4', { writes: ['fails', 'fails', 'fails'] }), { everyMs: 1 }).toBe({
      write: '      1---4 9999ms 4',
      'disk full': 'd---d 9999ms d',
      pass: '       1-2-4 9999ms -',
    });
  });

  it('that have not been written yet are not lost by a failure', () => {
    expect(keep(10_100, '12', { onDisk: 'a', writes: [5, 0] }).slice(-2)).toEqual(['1000 write 2', '1000 kept']);
    expect(keep(10_100, '1', { writes: ['fails'] }).slice(-2)).toEqual(['10000 write 1', '10000 kept']);
  });

  it('pass also when the disk never answers', () => {
    const told = story(5_000, ({ scheduler, cold }) =>
      cold<KnownPods>('1 2s 4', sets).pipe(
        keepPods(() => NEVER, '', scheduler),
        map(word),
      ),
    );
    expect(told).toEqual(['1000 pass 1', '2001 pass 4']);
  });
});
