import { catchError, map, merge, mergeMap, NEVER, type Observable, of, type SchedulerLike, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ConfigMap } from '../../../src/model/references/referenced-object.js';
import type { ReflectorEvent } from '../../../src/model/reflector/reflector-event.js';
import { objectKeeper } from '../../../src/streams/references/kept-objects.js';
import type { ObjectStore } from '../../../src/streams/reflector/object-store.js';
import { watchedObjects } from '../../../src/streams/reflector/watched-objects.js';
import { memoryLastKnown } from '../../support/memory-last-known.js';
import { marbles } from '../marbles.js';

type Event = ReflectorEvent<ConfigMap>;

const aMap = (version: string, immutable = false): ConfigMap => ({
  metadata: { namespace: 'ns', name: 'cm', resourceVersion: version },
  ...(immutable && { immutable }),
});
const all = (...objects: ConfigMap[]): Event => ({ kind: 'replaced', objects, resourceVersion: '9' });
const failed = (error: unknown): Event => ({ kind: 'problem', step: 'list', error, severity: 'error' });
/** What a reflector says: a number is the version of what there is. */
const events: Readonly<Record<string, Event>> = {
  0: all(),
  1: all(aMap('1')),
  2: { kind: 'put', object: aMap('2') },
  3: all(aMap('3')),
  i: all(aMap('i', true)),
  d: { kind: 'deleted', object: aMap('2') },
  a: failed(new ApiError({ message: 'connect ECONNREFUSED' })),
  f: failed(new ApiError({ code: 403, reason: 'Forbidden', message: 'no relationship found' })),
};
/** What a read gives: the version, or `n` for what is not there, `s` where the server has not said it in time, `r` without a reference. */
const outcomes: Readonly<Record<string, string>> = {
  'configmap "cm" not found': 'n',
  'failed to sync configmap cache: timed out waiting for the condition': 's',
  'object "ns"/"cm" not registered': 'r',
};

const stageOf = (scheduler: SchedulerLike, follow$: Observable<Event>) => {
  const warned: string[] = [];
  const say = () => undefined;
  const store = watchedObjects<ConfigMap>({
    kind: 'configmap',
    follow: () => follow$,
    syncFrequencyMs: 60_000,
    scheduler,
    log: { debug: say, info: say, error: say, warn: (_, message) => warned.push(message) },
  });
  const read = (): Observable<string> =>
    store.read('ns', 'cm').pipe(
      map(({ metadata }) => metadata.resourceVersion!),
      catchError((error: unknown) => of(outcomes[(error as Error).message] ?? String(error))),
    );
  return { store, warned, read };
};

/** The store at work: pods `p` and `q` begin to refer to the object, and end that as `P` and `Q`; `r` reads it. */
const atWork = (
  { store, read }: { readonly store: ObjectStore<ConfigMap>; readonly read: () => Observable<string> },
  act$: Observable<string>,
): Observable<string> =>
  merge(
    store.run$,
    act$.pipe(
      tap((act) => {
        if (act === 'p' || act === 'q') store.refer('ns', 'cm', act);
        if (act === 'P' || act === 'Q') store.release('ns', 'cm', act.toLowerCase());
      }),
      mergeMap((act) => (act === 'r' ? read() : NEVER)),
    ),
  );

describe('an object that pods refer to', () => {
  it(
    'is followed from the first reference to the last, and read as it was last seen',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('   -1---2---d---3----     ', events);
      const act = hot('    rp-rq-r-r---r---rP-r-Q-r  ');
      const expected = '   r--1--1-2---n---3--3---r  ';
      const followed = '   -^-------------------!    ';
      const unsub = '      ------------------------! ';
      expectObservable(atWork(stageOf(scheduler, follow), act), unsub).toBe(expected);
      expectSubscriptions(follow.subscriptions).toBe(followed);
    }),
  );

  it(
    'may be referred to before anything is followed',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('--1');
      const stage = stageOf(scheduler, follow.pipe(map(() => events[1]!)));
      stage.store.refer('ns', 'cm', 'p');
      expectObservable(atWork(stage, hot('---r-')), '-----!').toBe('---1-');
      expectSubscriptions(follow.subscriptions).toBe('^----!');
    }),
  );

  it(
    'is waited for until the server has said once what there is, for a second at most',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const late = cold('    --- 800ms 1', events);
      const never = cold<Event>('---');
      const slow = stageOf(scheduler, late);
      const silent = stageOf(scheduler, never);
      expectObservable(atWork(slow, hot('  pr')), '2s !').toBe('803ms 1');
      expectObservable(atWork(silent, hot('pr')), '2s !').toBe('1001ms s');
    }),
  );

  it(
    'is not there where the server says so',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const stage = stageOf(scheduler, cold('--0', events));
      expectObservable(atWork(stage, hot('pr---r')), '------!').toBe('--n--n');
    }),
  );

  it(
    'a read that waits while the object loses its last reference fails in time, although a later pod refers to it again',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const act = hot('    pr-Pq---r');
      const expected = '   --------1 992ms s';
      expectObservable(atWork(stageOf(scheduler, cold('----1', events)), act), '2s !').toBe(expected);
    }),
  );

  it(
    'has no time limit when no read waits for it, and is still watched',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('------1', events);
      const stage = stageOf(scheduler, follow);
      expectObservable(atWork(stage, hot('p-------r')), '---------!').toBe('--------1');
      expectObservable(stage.read(), '-^--!').toBe('');
      expectSubscriptions(follow.subscriptions).toBe('^--------!');
    }),
  );
});

describe('an object that cannot change', () => {
  it(
    'is not followed any more once it was read, and stays as it was',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('  --i------3          ', events);
      const act = hot('    p-----r- 9m r 9m r  ');
      const expected = '   ------i- 9m i 9m i  ';
      expectObservable(atWork(stageOf(scheduler, follow), act), '20m !').toBe(expected);
      expectSubscriptions(follow.subscriptions).toBe('^-----!');
    }),
  );

  it(
    'is watched again after it had no references',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('i', events);
      const act = hot('pr--Pp--r-');
      const expected = '-i------i-';
      expectObservable(atWork(stageOf(scheduler, follow), act), '----------!').toBe(expected);
      expectSubscriptions(follow.subscriptions).toBe(['^!', '-----^--!']);
    }),
  );
});

describe('an object without readers', () => {
  it(
    'is not followed any more after five minutes, by the minute, and again from the next read',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('     -1', events);
      // Read at 1 s: five minutes after that have passed when it is looked at in the sixth.
      const act = hot('p 999ms r 419s r', undefined);
      expectObservable(atWork(stageOf(scheduler, follow), act), '8m !').toBe('1s 1 419001ms 1');
      expectSubscriptions(follow.subscriptions).toBe(['^ 359999ms !', '420001ms ^ 59998ms !']);
    }),
  );

  it(
    'is not given up while the server has not said anything',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold<Event>('-');
      expectObservable(atWork(stageOf(scheduler, follow), hot('p')), '30m !').toBe('');
      expectSubscriptions(follow.subscriptions).toBe('^ 1799999ms !');
    }),
  );

  it.each([
    { syncFrequencyMs: 1_000, idle: '2m' },
    { syncFrequencyMs: 120_000, idle: '11m' },
  ])('with a sync of its pod every $syncFrequencyMs ms is not watched after $idle', ({ syncFrequencyMs, idle }) => {
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('1', events);
      const say = () => undefined;
      const store = watchedObjects<ConfigMap>({
        ...{ kind: 'configmap', follow: () => follow, syncFrequencyMs, scheduler },
        log: { debug: say, info: say, warn: say, error: say },
      });
      store.refer('ns', 'cm', 'p');
      expectObservable(merge(store.run$, store.read('ns', 'cm').pipe(mergeMap(() => NEVER))), '20m !').toBe('');
      expectSubscriptions(follow.subscriptions).toBe(`^ ${Number.parseInt(idle) * 60_000 - 1}ms !`);
    })();
  });
});

describe('while the server is away', () => {
  it(
    'what was idle is given as it was last seen, and said to be so',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const follows = [cold('1', events), cold('a', events), cold('---', events)];
      const stage = stageOf(scheduler, of(0).pipe(mergeMap(() => follows.shift() ?? NEVER)));
      const act = hot('pr 7m r 9m r');
      // A second is waited in either case: whether the server refuses or says nothing.
      expectObservable(atWork(stage, act), '18m !').toBe('-1 421000ms 1 540000ms 1');
      scheduler.schedule(() => {
        const message = 'the API server does not answer, using the last known object';
        expect(stage.warned).toEqual([message, message]);
      }, 1_070_000);
    }),
  );

  it(
    'an object that was never seen is an error, and so is one that the server now refuses',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const follows = [cold('1', events), cold('f', events)];
      const refused = stageOf(scheduler, of(0).pipe(mergeMap(() => follows.shift() ?? NEVER)));
      expectObservable(atWork(refused, hot('pr 7m r')), '10m !').toBe('-1 421000ms s');
      const unseen = stageOf(scheduler, cold('a', events));
      expectObservable(atWork(unseen, hot('pr')), '10m !').toBe('1001ms s');
    }),
  );

  it(
    'what is followed is given at once',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const stage = stageOf(scheduler, cold('1--a', events));
      expectObservable(atWork(stage, hot('p----r')), '------!').toBe('-----1');
    }),
  );
});

describe('what is kept for a start while the server is away', () => {
  const keptStage = (
    scheduler: SchedulerLike,
    follow$: Observable<Event>,
    before: Readonly<Record<string, ConfigMap>> = {},
  ) => {
    const disk = memoryLastKnown(before);
    const nothing = () => undefined;
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const keeper = objectKeeper(disk, log);
    const kept = keeper.of<ConfigMap>('ConfigMap');
    const store = watchedObjects<ConfigMap>({
      ...{ kind: 'configmap', follow: () => follow$, syncFrequencyMs: 60_000, kept, scheduler, log },
    });
    const read = (): Observable<string> =>
      store.read('ns', 'cm').pipe(
        map(({ metadata }) => metadata.resourceVersion!),
        catchError((error: unknown) => of(outcomes[(error as Error).message] ?? String(error))),
      );
    return { disk, stage: { store: { ...store, run$: merge(keeper.run$, store.run$) }, read } };
  };

  it(
    'is written as it changes, until it has no references',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const { disk, stage } = keptStage(scheduler, cold('1-2-d-3', events));
      expectObservable(atWork(stage, hot('p--------P')), '----------!').toBe('');
      scheduler.schedule(() => {
        const key = 'ConfigMap ns/cm';
        expect(disk.did).toEqual([
          `write ${key} 1`,
          `write ${key} 2`,
          `remove ${key}`,
          `write ${key} 3`,
          `remove ${key}`,
        ]);
      }, 11);
    }),
  );

  it(
    'is given to who has waited for the server for a second, and followed on',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('a 2s 3', events);
      const { stage } = keptStage(scheduler, follow, { 'ConfigMap ns/cm': aMap('k', true) });
      expectObservable(atWork(stage, hot('pr 2s r')), '3s !').toBe('1001ms k 1000ms 3');
      // The kept object may have been replaced since, so that its immutability does not count.
      expectSubscriptions(follow.subscriptions).toBe('^ 2999ms !');
    }),
  );

  it(
    'is not given where the server is there and says that the node may not have it',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const { stage } = keptStage(scheduler, cold('f', events), { 'ConfigMap ns/cm': aMap('k') });
      expectObservable(atWork(stage, hot('pr')), '3s !').toBe('1001ms s');
    }),
  );

  it(
    'is dropped where no pod refers to it five minutes after the start',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const before = { 'ConfigMap ns/cm': aMap('3'), 'ConfigMap ns/old': aMap('o') };
      const { disk, stage } = keptStage(scheduler, cold('3', events), before);
      expectObservable(atWork(stage, hot('p')), '6m !').toBe('');
      scheduler.schedule(() => expect(disk.did).toEqual([]), 300_000 - 1);
      scheduler.schedule(() => expect(disk.did).toEqual(['remove ConfigMap ns/old']), 300_000 + 1);
    }),
  );
});

describe('changes of a watched object', () => {
  it(
    'are emitted as they are seen, and a listing that shows nothing new is none',
    marbles(({ cold, expectObservable, scheduler }) => {
      //                   the server: none, 1, 2, 2 gone, 3 and the same again
      const follow$ = cold('0-1-2-d-3-3-a-|', events);
      const { store } = stageOf(scheduler, merge(follow$, NEVER));
      const acts$ = cold<string>('  p');
      const changed$ = merge(atWork({ store, read: () => NEVER }, acts$), store.changed$.pipe(map(() => 'c')));
      expectObservable(changed$, '-------------!').toBe('--c-c-c-c');
    }),
  );
});
