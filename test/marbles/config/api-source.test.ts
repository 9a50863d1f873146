import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  takeUntil,
  throwError,
  timer,
} from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { SourceEvent } from '../../../src/model/pod/pod-set.js';
import { apiSource } from '../../../src/streams/config/api-source.js';
import type { ApiServer, ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import type { KnownPods, LastKnown } from '../../../src/streams/ports/last-known.js';
import { byHop } from '../by-hop.js';
import { expectLanes } from '../lanes.js';
import { empty, failing } from '../reflector/reflector-story.js';
import {
  expired,
  internal,
  line,
  listOf,
  objectOf,
  opened,
  refused,
  reset,
  type Script,
  scriptedApi,
  story,
  tooLarge,
  unauthorized,
} from '../reflector/scripted-api.js';

const podOf = (name: string, version: number): ApiObject & Pod => ({
  ...(objectOf(name, version) as Pod),
  spec: { containers: [] },
});
const lines: Readonly<Record<string, ApiWatchMessage>> = {
  o: opened,
  a: line('ADDED', podOf('a', 6)),
  b: line('ADDED', podOf('b', 7)),
  c: line('ADDED', podOf('c', 8)),
  m: line('MODIFIED', podOf('a', 9)),
  x: line('DELETED', podOf('b', 10)),
  q: line('ADDED', objectOf('q', 11)),
};

/** `set a6 b7`, `warning: …`: one line per event. */
const word = (event: SourceEvent): string =>
  event.kind === 'set'
    ? ['set', ...event.pods.map(({ metadata }) => `${metadata.name}${metadata.resourceVersion}`)].join(' ')
    : `${event.problem.severity}: ${event.problem.message}`;

interface Disk {
  readonly kept?: readonly Pod[];
  readonly readPods?: () => Observable<KnownPods | undefined>;
  /** The same by the clock of the test. */
  readonly slowly?: (scheduler: SchedulerLike) => () => Observable<KnownPods | undefined>;
  readonly writeMs?: number;
}

/** As if it had been kept 3 s before the start. */
const START = Date.UTC(2026, 0, 1);
const lastKnownOf = (
  { kept, slowly, readPods, writeMs = 0 }: Disk,
  scheduler: TestScheduler,
  tell: (what: string) => void,
): LastKnown => ({
  readPods:
    slowly?.(scheduler) ?? readPods ?? (() => of(kept && { pods: kept, resourceVersion: '5', at: START - 3_000 })),
  writePods: ({ pods, resourceVersion, at }) =>
    defer(() => {
      tell(`keep ${pods.length} as of ${resourceVersion} at ${at - START}`);
      return writeMs === 0 ? EMPTY : timer(writeMs, scheduler).pipe(ignoreElements());
    }),
  readObjects: () => of(new Map()),
  writeObject: () => EMPTY,
  removeObject: () => EMPTY,
});

const play = (
  untilMs: number,
  script: (cold: TestScheduler['createColdObservable']) => Script,
  { known = 'y', disk }: { readonly known?: string; readonly disk?: Disk } = {},
): readonly string[] =>
  story(untilMs, ({ scheduler, cold, tell }) => {
    return apiSource(
      {
        api: scriptedApi(script(cold), tell),
        scheduler,
        random: () => 0,
        wallClock: () => START + scheduler.now(),
        ...(disk && { lastKnown: lastKnownOf(disk, scheduler, tell) }),
      },
      { nodeName: 'node-1', isNodeKnown$: concat(cold(known, { y: true, n: false }), NEVER) },
    ).pipe(map(word));
  }).filter((what) => !what.endsWith(' given up'));

/** Without what is asked of the server. */
const saidBy = (told: readonly string[]): readonly string[] => told.filter((what) => !/^\d+ (list|watch) /.test(what));

describe('pods of the API server', () => {
  it('are asked for by the name of the node, when the node is known', () => {
    expect(play(20, () => ({ lists: [of(listOf(5, [podOf('z', 3)]))] }), { known: '-n--y-n-y' })).toEqual([
      '4 list 0 fieldSelector=spec.nodeName=node-1 limit=500',
      '4 set z3',
      '4 watch 5 for 300 s fieldSelector=spec.nodeName=node-1',
    ]);
  });

  it('come as complete sets, each at once', () => {
    expect(saidBy(play(20, (cold) => ({ lists: [empty], watches: [cold('o-a--b--m--x', lines)] })))).toEqual([
      '0 set',
      '2 set a6',
      '5 set a6 b7',
      '8 set a9 b7',
      '11 set a9',
    ]);
  });

  it('that change together are emitted as the first change and the last', () => {
    const said = saidBy(play(20, (cold) => ({ lists: [empty], watches: [cold('o-(abcmx)-----q', lines)] })));
    expectLanes(said, { everyMs: 1 }).toBe('0-(12)-----------(e2)', {
      0: 'set',
      1: 'set a6',
      2: 'set a9 c8',
      e: 'error: pod default/q of the API server has no spec, so it is left out',
    });
  });

  it('keep unknown fields', () => {
    const odd = { ...podOf('a', 6), spec: { containers: [], fieldOfTomorrow: { x: 1 } }, aField: 2 };
    const seen: unknown[] = [];
    story(1, ({ scheduler, tell }) =>
      apiSource(
        { api: scriptedApi({ lists: [of(listOf(5, [odd]))] }, tell), scheduler, random: () => 0, wallClock: () => 0 },
        { nodeName: 'n', isNodeKnown$: of(true) },
      ).pipe(
        map((event) => {
          if (event.kind === 'set') seen.push(...event.pods);
          return word(event);
        }),
      ),
    );
    expect(seen).toEqual([{ apiVersion: 'v1', kind: 'Thing', ...odd }]);
  });

  it.each<
    [
      how: string,
      watch: (cold: TestScheduler['createColdObservable']) => Observable<ApiWatchMessage>,
      list: Observable<unknown>,
    ]
  >([
    ['is reset', (cold) => cold('o-a-#', lines, reset), NEVER],
    ['is refused', (cold) => cold('o-a-|', lines), NEVER],
    ['loses its history', (cold) => cold('o-a-#', lines, expired), of(listOf(7, [podOf('a', 6), podOf('b', 7)]))],
    ['breaks inside', (cold) => cold('o-a-#', lines, internal), of(listOf(7, [podOf('a', 6), podOf('b', 7)]))],
  ])('are all there, and none too often, when the connection %s', (_how, watch, list) => {
    const sets = saidBy(play(2_000, (cold) => ({ lists: [empty, list], watches: [watch(cold), cold('o-b', lines)] })));
    expect(sets.filter((what) => what.includes(' set')).map((what) => what.replace(/^\d+ /, ''))).toEqual([
      'set',
      'set a6',
      'set a6 b7',
    ]);
  });

  it('that cannot be listed are a problem once, at debug level from then on, and a recovery in the end', () => {
    expect(
      saidBy(
        play(6_000, (cold) => ({
          lists: [failing(unauthorized), failing(unauthorized), empty],
          watches: [cold('o', lines)],
        })),
      ),
    ).toEqual([
      '0 error: pods of the API server could not be listed: Unauthorized',
      '800 debug: pods of the API server could not be listed: Unauthorized',
      '2400 set',
      '3400 info: pods of the API server are followed again',
    ]);
  });
});

describe('an API server that is away', () => {
  const kept = { kept: [podOf('k', 4)] };
  const isSet = (what: string) => what.includes(' set');
  const isList = (what: string) => / list (newest|\d)/.test(what);

  it('for 10 s after the start lets the last known pods be the set, until its first list', () => {
    const told = play(
      14_000,
      () => ({ lists: [...Array.from({ length: 5 }, () => failing(refused)), of(listOf(9, [podOf('n', 8)]))] }),
      { disk: kept },
    );
    const shown = told.filter((what) => isSet(what) || isList(what) || what.includes('away'));
    expectLanes(shown, { everyMs: 400 }).toBe('l-l---l-------l----------(owk)----(ln)', {
      l: 'list 5 fieldSelector=spec.nodeName=node-1',
      o: 'list newest fieldSelector=spec.nodeName=node-1 limit=1',
      w: 'warning: the API server is away: going on with the pods that it had 13 s ago (1)',
      k: 'set k4',
      n: 'set n8',
    });
  });

  it('without the node being known does so too', () => {
    expect(play(11_000, () => ({ lists: [failing(refused)] }), { known: 'n', disk: kept }).filter(isSet)).toEqual([
      '10000 set k4',
    ]);
  });

  it('in silence does so when it has not answered once more within 5 s', () => {
    const shown = play(16_000, () => ({ lists: [] }), { disk: kept }).filter((what) => isSet(what) || isList(what));
    expectLanes(shown, { everyMs: 1_000 }).toBe('l---------o----k', {
      l: 'list 5 fieldSelector=spec.nodeName=node-1',
      o: 'list newest fieldSelector=spec.nodeName=node-1 limit=1',
      k: 'set k4',
    });
  });

  it('behind something that answers for it does so too', () => {
    const lists = Array.from({ length: 9 }, () => failing(internal));
    expect(play(11_000, () => ({ lists }), { disk: kept }).filter(isSet)).toEqual(['10000 set k4']);
  });

  it.each([
    ['that answers', empty],
    ['that refuses', failing(unauthorized)],
  ])('%s, only with a list that is slow, does not', (_what, answer) => {
    const told = play(
      60_000,
      (cold) => ({ lists: [cold('25s (l|)', { l: listOf(9, [podOf('n', 8)]) }), answer, answer] }),
      { disk: kept },
    );
    expect(told.filter((what) => isSet(what) || isList(what))).toEqual([
      '0 list 5 fieldSelector=spec.nodeName=node-1',
      '10000 list newest fieldSelector=spec.nodeName=node-1 limit=1',
      '20000 list newest fieldSelector=spec.nodeName=node-1 limit=1',
      '25000 set n8',
    ]);
  });

  it('is asked for nothing older than what was kept; where that is too new, its data was restored and is taken', () => {
    expect(
      play(9, () => ({ lists: [failing(tooLarge), of(listOf(3, [podOf('r', 2)]))] }), { disk: kept }).filter(
        (what) => isSet(what) || isList(what),
      ),
    ).toEqual([
      '0 list 5 fieldSelector=spec.nodeName=node-1',
      '0 list newest fieldSelector=spec.nodeName=node-1 limit=500',
      '0 set r2',
    ]);
  });

  it('after it has answered once lets pods be as they are', () => {
    const told = play(
      60_000,
      (cold) => ({
        lists: [of(listOf(6, [podOf('n', 6)]))],
        watches: [cold('o 1s #', lines, reset), failing(refused), failing(refused)],
      }),
      { disk: kept },
    );
    expect(told.filter(isSet)).toEqual(['0 set n6']);
  });

  it('does nothing where nothing is kept, or where that is not wanted', () => {
    expect(play(30_000, () => ({ lists: [] }), { disk: {} }).filter(isSet)).toEqual([]);
    const unkept = play(30_000, () => ({ lists: [] }));
    expect(unkept.filter((what) => isSet(what) || what.includes('limit=1'))).toEqual([]);
  });

  it.each<[what: string, read: () => Observable<KnownPods | undefined>, atMs: number, problem: string]>([
    ['cannot be read', () => throwError(() => new Error('pods.json: EIO')), 0, 'pods.json: EIO'],
  ])('does nothing with last known pods that %s', (_what, readPods, atMs, problem) => {
    const told = play(20_000, () => ({ lists: [] }), { disk: { readPods } });
    expect(told.slice(0, 2)).toEqual([
      `${atMs} warning: the last known pods cannot be read: ${problem}`,
      `${atMs} list 0 fieldSelector=spec.nodeName=node-1 limit=500`,
    ]);
    expect(told.filter(isSet)).toEqual([]);
  });

  it('is asked after a second although the disk is slow, and the last known pods are the set once they are read', () => {
    const readPods = (scheduler: SchedulerLike) => () =>
      timer(3_000, scheduler).pipe(map(() => ({ pods: [podOf('k', 4)], resourceVersion: '5', at: START - 3_000 })));
    const told = play(14_000, () => ({ lists: Array.from({ length: 9 }, () => failing(refused)) }), {
      disk: { slowly: readPods },
    });
    expect(told.slice(0, 2)).toEqual([
      '1000 warning: the last known pods are not read within 1 s: the API server is asked first',
      '1000 list 0 fieldSelector=spec.nodeName=node-1 limit=500',
    ]);
    expect(told.filter(isSet)).toEqual(['13000 set k4']);
  });

  it('that answers before a slow disk is read has the set, and one whose disk never answers has none', () => {
    const slow = (scheduler: SchedulerLike) => () =>
      timer(3_000, scheduler).pipe(map(() => ({ pods: [podOf('k', 4)], resourceVersion: '5', at: START - 3_000 })));
    const answered = play(20_000, () => ({ lists: [of(listOf(9, [podOf('n', 8)]))] }), { disk: { slowly: slow } });
    expect(answered.filter(isSet)).toEqual(['1000 set n8']);
    const silent = play(20_000, () => ({ lists: [] }), { disk: { readPods: () => NEVER } });
    expect(silent.filter(isSet)).toEqual([]);
  });

  it('gives no pod of what is kept that is none', () => {
    const told = play(11_000, () => ({ lists: Array.from({ length: 9 }, () => failing(refused)) }), {
      disk: { kept: [{} as Pod, podOf('k', 4), objectOf('q', 3) as Pod] },
    });
    expect(told.filter(isSet)).toEqual(['10000 set k4']);
  });
});

describe('what is kept', () => {
  it('is on disk before a new pod is emitted; other changes are emitted at once', () => {
    expect(
      saidBy(
        play(2_100, (cold) => ({ lists: [of(listOf(5, [podOf('a', 5)]))], watches: [cold('o-b--m', lines)] }), {
          disk: { kept: [podOf('a', 4)], writeMs: 20 },
        }),
      ),
    ).toEqual(['0 keep 1 as of 5 at 0', '0 set a5', '20 keep 2 as of 9 at 5', '40 set a5 b7', '40 set a9 b7']);
  });
});

it('reads the pods of a long list in parts, a hop of the scheduler after each other, and says them as one set', () => {
  const watched = (pod: ApiObject & Pod, read: () => void): ApiObject => {
    let isRead = false;
    const spec = Object.defineProperty({ containers: [] }, 'containers', {
      enumerable: true,
      get: () => {
        if (!isRead) read();
        isRead = true;
        return [];
      },
    });
    return { ...pod, spec } as ApiObject;
  };
  const hops = byHop((scheduler, passed) => {
    const pods = Array.from({ length: 40 }, (_, index) => watched(podOf(`p${index}`, index + 1), () => passed('r')));
    const api: Pick<ApiServer, 'request' | 'watch'> = {
      request: () => of(listOf(50, pods)),
      watch: () => NEVER,
    };
    const ports = { api, scheduler, random: () => 0, wallClock: () => 0 };
    const set$ = apiSource(ports, { nodeName: 'node-1', isNodeKnown$: of(true) });
    set$
      .pipe(takeUntil(timer(1, scheduler)))
      .subscribe((event) => passed(event.kind === 'set' ? ` set of ${event.pods.length}` : event.problem.message));
  });
  expect(hops.filter((what) => what !== '')).toEqual(['r'.repeat(16), 'r'.repeat(16), `${'r'.repeat(8)} set of 40`]);
});
