import { delay, from, fromEvent, map, mergeMap, NEVER, of, race, Subject, take, tap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../../src/model/journal/journal.js';
import type { PodUpdate } from '../../../src/model/pod-workers/pod-update.js';
import type { Wake } from '../../../src/model/pod-workers/wake.js';
import { emptyPodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { NetworkNotReady, PodSyncError, SyncCancelled } from '../../../src/model/pod-actions/sync-error.js';
import { type PodWork, podWorkers, type PodWorkerOptions } from '../../../src/streams/pod-workers/pod-workers.js';
import { aPod } from '../../support/a-pod.js';
import { byHop } from '../by-hop.js';
import { marbles } from '../marbles.js';
import { create, idle, kill, MINUTE, optionsWith, outcomes, SECOND, sync, type Updates } from './pod-worker-stage.js';

describe('one worker', () => {
  it(
    'runs one sync at a time, then the newest of what came meanwhile',
    marbles(({ hot, cold, time, expectObservable, expectSubscriptions, scheduler }) => {
      const updates: Updates = {
        a: create(aPod()),
        b: sync(aPod({ labels: { v: 'b' } })),
        c: sync(aPod({ labels: { v: 'c' } })),
      };
      const update$ = hot('a-b-c---------|', updates);
      const syncing = cold('-----(x|)     ');
      const expected = '    -----m----r---|';
      const runs = ['       ^----!', '     -----^----!'];
      const seen: (string | undefined)[] = [];
      const work: PodWork = {
        ...idle,
        syncPod: ({ pod }) => {
          seen.push(pod.metadata.labels?.v);
          return syncing.pipe(map(() => ({ isTerminal: false })));
        },
      };
      const period = time('|') + MINUTE;
      expectObservable(outcomes(update$, optionsWith({ scheduler, work }))).toBe(expected, {
        m: `uid-1 sync again ${period}`,
        r: `uid-1 sync rest ${period}`,
      });
      expectSubscriptions(syncing.subscriptions).toBe(runs);
      scheduler.schedule(() => expect(seen).toEqual([undefined, 'c']), 20);
    }),
  );

  it(
    'lets a kill cancel a sync, waits until the sync has ended, and goes through both phases without a pause',
    marbles(({ hot, time, expectObservable, scheduler }) => {
      const pod = aPod();
      const update$ = hot(' c---k-----------|', { c: create(pod), k: kill(pod, 7) });
      const syncing = time('------------|    ');
      const lettingGo = time('  ---|           ');
      const killing = time('       ----|      ');
      const expected = '    -------x---(td)-|';
      const work: PodWork = {
        ...idle,
        syncPod: (_run, signal) =>
          race(
            timer(syncing).pipe(map(() => ({ isTerminal: false }))),
            fromEvent(signal, 'abort').pipe(
              take(1),
              delay(lettingGo),
              mergeMap(() => throwError(() => new SyncCancelled())),
            ),
          ),
        syncTerminatingPod: ({ graceSeconds }) => timer(graceSeconds === 7 ? killing : 99),
      };
      expectObservable(outcomes(update$, optionsWith({ scheduler, work }))).toBe(expected, {
        x: `uid-1 sync again ${10 * SECOND}`,
        t: 'uid-1 terminating advance',
        d: 'uid-1 terminated exit',
      });
    }),
  );

  it(
    'never overlaps two runs of a pod, and never waits for another pod',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const [slow, quick] = [aPod({ uid: 'slow', name: 'a' }), aPod({ uid: 'quick', name: 'b' })];
      const update$ = hot('(sq)-q-s---------|', { s: create(slow), q: create(quick) });
      const expected = '   q----q--s-------s|';
      let running = 0;
      const work: PodWork = {
        ...idle,
        syncPod: ({ uid }) =>
          (uid === 'slow' ? cold('--------(x|)') : cold('(x|)')).pipe(
            tap({
              subscribe: () => expect(uid === 'quick' || ++running === 1).toBe(true),
              finalize: () => uid === 'slow' && running--,
            }),
            map(() => ({ isTerminal: false })),
          ),
      };
      const uid$ = outcomes(update$, optionsWith({ scheduler, work })).pipe(map((line) => line[0]));
      expectObservable(uid$).toBe(expected);
    }),
  );

  it(
    'needs a view of the runtime that is newer than the end of its last run',
    marbles(({ hot, time, expectObservable, scheduler }) => {
      const update$ = hot('c---s-----|', { c: create(aPod()), s: sync(aPod()) });
      const looking = time('--|       ');
      const expected = '   --r---r---|';
      const asked: number[] = [];
      const newerThan: PodWorkerOptions['newerThan'] = (uid, since) => {
        asked.push(since);
        return timer(looking).pipe(map(() => emptyPodStatus({ uid, namespace: '', name: '' })));
      };
      expectObservable(outcomes(update$, optionsWith({ scheduler, newerThan })).pipe(map(() => 'r'))).toBe(expected);
      scheduler.schedule(() => expect(asked).toEqual([0, 2]), 20);
    }),
  );

  it(
    'does nothing to a pod that cannot be read, says so, and counts no sync',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler }) => {
      const update$ = hot('  c---s----|', { c: create(aPod()), s: sync(aPod()) });
      const unreadable = cold<never>('-#   ', undefined, new Error('the runtime is away'));
      const syncing = cold<never>('   |    ');
      const events: string[] = [];
      const options = optionsWith({
        scheduler,
        newerThan: (_uid, since) => unreadable.pipe(tap({ subscribe: () => expect(since).toBe(0) })),
        work: { ...idle, syncPod: () => syncing },
        recordEvent: ({ reason, message }) => events.push(`${reason} ${message}`),
      });
      expectObservable(outcomes(update$, options)).toBe('-x---x---|', { x: `uid-1 sync rest ${10 * SECOND}` });
      expectSubscriptions(syncing.subscriptions).toBe([]);
      scheduler.schedule(() => expect(events[0]).toBe('FailedSync error determining status: the runtime is away'), 20);
    }),
  );

  it(
    'is closed when its pod is forgotten, and a new one starts for the same UID',
    marbles(({ hot, expectObservable, scheduler }) => {
      const options = optionsWith({ scheduler });
      const { workers } = options.state;
      const wake$ = hot('c-k-f-c-|').pipe(
        mergeMap((step): readonly Wake[] => {
          if (step === 'f') return workers.syncKnownPods(new Set(), 0).wakes;
          return workers.update(step === 'c' ? create(aPod()) : kill(aPod()), 0);
        }),
      );
      const work$ = wake$.pipe(
        podWorkers(options),
        map(({ work }) => (work === 'sync' ? 's' : work === 'terminating' ? 't' : 'd')),
      );
      expectObservable(work$).toBe('s-(td)s-|');
    }),
  );
});

describe('a worker and the end of its pod', () => {
  const runningPod = { uid: 'uid-1', name: 'web', namespace: 'default', items: [], observedAt: 0 };
  const orphan: PodUpdate = { type: 'kill', runningPod, kill: { graceSeconds: 1 }, causes: [] };

  it(
    'is not closed under a pod that comes back in the same millisecond in which it was forgotten',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler }) => {
      // The orphan has stopped at 3; before its worker is closed, a hop later, a source brings the same pod.
      const stopping = cold<never>('---|');
      const syncing = cold('        -----(x|)');
      const update$ = hot('         o--c-s------------|', { o: orphan, c: create(aPod()), s: sync(aPod()) });
      const runs = ['               ---^----!', '--------^----!'];
      const work: PodWork = {
        ...idle,
        syncTerminatingRuntimePod: () => stopping,
        syncPod: () => syncing.pipe(map(() => ({ isTerminal: false }))),
      };
      // What is hot comes before what ends in the same frame: a hop puts it between the end of the run and that of the worker.
      const late$ = update$.pipe(delay(0, scheduler));
      const line$ = outcomes(late$, optionsWith({ scheduler, work })).pipe(map((line) => line.split(' ')[1]?.[0]));
      expectObservable(line$).toBe('---t----s----s----|', { t: 't', s: 's' });
      expectSubscriptions(syncing.subscriptions).toBe(runs);
    }),
  );

  it(
    'does nothing on a wake that comes after its pod was forgotten',
    marbles(({ hot, expectObservable, scheduler }) => {
      const wake: Wake = { uid: 'gone', update: sync(aPod({ uid: 'gone' })), cancel: false };
      expectObservable(hot('--w--|', { w: wake }).pipe(podWorkers(optionsWith({ scheduler })))).toBe('-----|');
    }),
  );

  it(
    'passes a free name on when the pod that was to have it is stopped before it could take it',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const [a, b, c] = ['a', 'b', 'c'].map((uid) => aPod({ uid }));
      const killing = cold<never>('--|');
      const update$ = hot('(abc)x-y-----|', {
        a: create(a!),
        b: create(b!),
        c: create(c!),
        x: kill(a!),
        y: kill(b!),
      });
      const options = optionsWith({ scheduler, work: { ...idle, syncTerminatingPod: () => killing } });
      const line$ = outcomes(update$.pipe(delay(0, scheduler)), options).pipe(
        map((line) => line.split(' ')),
        map(([uid = '', work = '']) =>
          work === 'sync' ? uid : work === 'waiting' ? 'w' : work === 'terminating' ? 't' : 'd',
        ),
      );
      expectObservable(line$).toBe('(aww)--(tddc)|');
    }),
  );
});

describe('when a pod is due again', () => {
  const failing = (error: Error): PodWork => ({ ...idle, syncPod: () => throwError(() => error) });
  const waiting = (waitsUntil?: number): PodWork => ({
    ...idle,
    syncPod: () => of({ isTerminal: false, wait: { message: 'wait', waitsUntil } }),
  });
  const failingBeside = (waitsUntil: number): PodWork =>
    failing(
      new PodSyncError([
        new Error('beside it'),
        { container: 'main', reason: 'CrashLoopBackOff', message: 'wait', waitsUntil },
        { container: 'late', reason: 'CrashLoopBackOff', message: 'wait', waitsUntil: waitsUntil + 1 },
      ]),
    );

  it.each([
    { case: 'all well, no jitter', work: idle, random: 0, due: 60 * SECOND },
    { case: 'all well, most jitter', work: idle, random: 1, due: 90 * SECOND },
    { case: 'an error, no jitter', work: failing(new Error('no')), random: 0, due: 10 * SECOND },
    { case: 'an error, most jitter', work: failing(new Error('no')), random: 1, due: 15 * SECOND },
    { case: 'a cancelled run', work: failing(new SyncCancelled()), random: 0, due: 10 * SECOND },
    { case: 'no network, no jitter', work: failing(new NetworkNotReady('cni')), random: 0, due: 1 * SECOND },
    { case: 'no network, most jitter', work: failing(new NetworkNotReady('cni')), random: 1, due: 1.5 * SECOND },
    { case: 'a back-off', work: waiting(40 * SECOND), random: 0, due: 40 * SECOND },
    { case: 'a back-off with jitter', work: waiting(40 * SECOND), random: 1, due: 60 * SECOND },
    { case: 'a back-off that is over', work: waiting(-5 * SECOND), random: 1, due: 0 },
    { case: 'a back-off beyond the resync interval', work: waiting(300 * SECOND), random: 1, due: 90 * SECOND },
    { case: 'a back-off of an image pull', work: waiting(), random: 0, due: 10 * SECOND },
    { case: 'a back-off beside a failure', work: failingBeside(40 * SECOND), random: 0, due: 40 * SECOND },
  ])('after $case: $due ms', ({ work, random, due }) => {
    marbles(({ hot, expectObservable, scheduler }) => {
      const update$ = hot('c|', { c: create(aPod()) });
      const options = optionsWith({ scheduler, work, random: () => random });
      expectObservable(outcomes(update$, options)).toBe('r|', { r: `uid-1 sync rest ${due}` });
    })();
  });

  it.each([
    { random: 0, due: 10 * SECOND },
    { random: 1, due: 15 * SECOND },
  ])('behind a static pod of the same name: $due ms at the latest', ({ random, due }) => {
    marbles(({ hot, expectObservable, scheduler }) => {
      const update$ = hot('ab|', { a: create(aPod({ uid: 'a' })), b: create(aPod({ uid: 'b' })) });
      const options = optionsWith({ scheduler, random: () => random, work: { ...idle, syncPod: () => NEVER } });
      expectObservable(outcomes(update$, options)).toBe('-w', { w: `b waiting wait-for-turn ${due}` });
    })();
  });

  it(
    'at once where a phase ends, or where the static pod before it has gone',
    marbles(({ hot, expectObservable, scheduler }) => {
      const [a, b] = [aPod({ uid: 'a' }), aPod({ uid: 'b' })];
      const update$ = hot('ab-k----|', { a: create(a), b: create(b), k: kill(a) });
      const expected = '   aw-(tdb)|';
      expectObservable(outcomes(update$, optionsWith({ scheduler }))).toBe(expected, {
        a: `a sync rest ${MINUTE}`,
        w: `b waiting wait-for-turn ${10 * SECOND}`,
        t: 'a terminating advance',
        d: 'a terminated exit',
        b: `b sync rest ${MINUTE}`,
      });
    }),
  );
});

it(
  'names the causes of a run, and the run as the cause of its outcome',
  marbles(({ hot, scheduler, expectObservable }) => {
    const entries: JournalRecord[] = [];
    const record = (entry: JournalRecord) => `j${entries.push(entry)}`;
    const update$ = hot('c|', { c: { ...create(aPod()), causes: ['config-1'] } });
    expectObservable(outcomes(update$, optionsWith({ scheduler, record })).pipe(map(() => 'r'))).toBe('r|');
    scheduler.schedule(() => {
      expect(entries).toMatchObject([
        {
          kind: 'sync-started',
          work: 'sync',
          trigger: 'create',
          causes: ['config-1'],
          pod: { uid: 'uid-1', name: 'web' },
        },
        { kind: 'sync-ended', work: 'sync', causes: ['j1'], next: { kind: 'resync', dueAt: MINUTE } },
      ]);
    }, 5);
  }),
);

it(
  'records that a pod is forgotten of which only the runtime knows, once it has stopped',
  marbles(({ cold, hot, scheduler, expectObservable, flush }) => {
    const records: JournalRecord[] = [];
    const record = (entry: JournalRecord) => `j${records.push(entry)}`;
    const runningPod = { uid: 'uid-1', name: 'web', namespace: 'default', items: [], observedAt: 0 };
    const update$ = hot('o-----|', { o: { type: 'kill' as const, runningPod, causes: [] } });
    const stopping = cold<never>('---|');
    const work: PodWork = { ...idle, syncTerminatingRuntimePod: () => stopping };
    const line$ = outcomes(update$, optionsWith({ scheduler, record, work }));
    expectObservable(line$.pipe(map(() => records.map(({ kind }) => kind).join()))).toBe('---e--|', {
      e: 'sync-started,sync-ended,forgotten',
    });
    flush();
    expect(records.at(-1)?.pod).toEqual({ uid: 'uid-1', namespace: 'default', name: 'web' });
  }),
);

it('begins the work on a number of pods that wait for the same read of the runtime, and on others a hop later', () => {
  const hops = byHop((scheduler, passed) => {
    const look$ = new Subject<void>();
    const options = optionsWith({
      scheduler,
      newerThan: (uid) => look$.pipe(map(() => emptyPodStatus({ uid, namespace: 'default', name: uid }))),
      work: {
        ...idle,
        syncPod: () => {
          passed('x');
          return NEVER;
        },
      },
    });
    const pods = Array.from({ length: 40 }, (_, index) => aPod({ uid: `${index}`, name: `p${index}` }));
    outcomes(from(pods.map(create)), options).subscribe();
    look$.next();
  });
  // The others are late enough to report a read that takes long.
  expect(hops.filter((work) => work !== '')).toEqual(['x'.repeat(16), 'x'.repeat(16), 'x'.repeat(8)]);
});
