import { defer, EMPTY, lastValueFrom, mergeMap, type Observable, of, tap, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ignoreOwnEvents } from '../../../src/streams/pleg/ignore-own-events.js';
import type { PodRun, PodWork, RuntimePodRun } from '../../../src/streams/pod-workers/pod-workers.js';
import type { RuntimeEventNews } from '../../../src/streams/pleg/runtime-events.js';
import { marbles } from '../marbles.js';

const event = (uid: string, isCausedByCall: boolean): RuntimeEventNews => ({
  kind: 'event',
  uid,
  createdAt: 7n,
  isCausedByCall,
});
/** Small letters for the effects of own calls. */
const news = {
  a: event('a', true),
  b: event('b', true),
  A: event('a', false),
  x: { kind: 'connected' } as const,
};
const run = { uid: 'a' } as PodRun;
const signal = new AbortController().signal;
const noWork: PodWork = {
  syncPod: () => EMPTY,
  syncTerminatingPod: () => EMPTY,
  syncTerminatingRuntimePod: () => EMPTY,
  syncTerminatedPod: () => EMPTY,
};

describe('events that the agent causes', () => {
  it(
    'cause a read while no worker works on the pod, as those of a call that was given up and succeeded later',
    marbles(({ hot, expectObservable }) => {
      const own = ignoreOwnEvents(() => expect.unreachable());
      const news$ = hot('a-x-b-A-', news);
      const expected = ' a---b-a-';
      expectObservable(news$.pipe(mergeMap(own.hints))).toBe(expected);
    }),
  );

  it(
    'are not while the worker of the pod is at it; others are, and those of other pods',
    marbles(({ hot, cold, expectObservable }) => {
      const own = ignoreOwnEvents(() => undefined);
      const work = { ...noWork, syncPod: () => cold<{ isTerminal: boolean }>('------|') };
      const pass$ = timer(2).pipe(mergeMap(() => own.during(work).syncPod(run, signal)));
      const news$ = hot('    a--abA---a-', news);
      const expected = '     a---ba---a-';
      expectObservable(pass$).toBe('--------|');
      expectObservable(news$.pipe(mergeMap(own.hints))).toBe(expected);
    }),
  );

  const passes = {
    syncPod: (work: PodWork) => work.syncPod(run, signal),
    syncTerminatingPod: (work: PodWork) => work.syncTerminatingPod(run),
    syncTerminatingRuntimePod: (work: PodWork) => work.syncTerminatingRuntimePod(run as unknown as RuntimePodRun),
    syncTerminatedPod: (work: PodWork) => work.syncTerminatedPod(run, signal),
  };
  const ends = {
    'is over': { end: '-----|', unsub: '         -------!' },
    'has failed': { end: '-----#', unsub: '         -------!' },
    'is given up': { end: '-----------', unsub: '    -----!' },
  };
  for (const [name, start] of Object.entries(passes)) {
    for (const [how, { end, unsub }] of Object.entries(ends)) {
      it(
        `are made good for when a sync of ${name} ${how} without a relist`,
        marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
          const looks: string[] = [];
          const own = ignoreOwnEvents((uid) => looks.push(`${scheduler.now()} ${uid}`));
          const pass$ = start(own.during({ ...noWork, [name]: () => cold(end) }));
          expectObservable(pass$, unsub);
          expectObservable(hot('--ab-----', news).pipe(mergeMap(own.hints))).toBe('---b');
          flush();
          expect(looks).toEqual(['5 a']);
        }),
      );
    }
  }

  it(
    'need nothing when the sync has asked for a relist after them, but do when they come after that',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const looks: string[] = [];
      const own = ignoreOwnEvents((uid) => looks.push(`${scheduler.now()} ${uid}`));
      const acts = (askedAt: number): Observable<{ isTerminal: boolean }> => {
        timer(askedAt, scheduler).subscribe(() => own.readRequested('a'));
        return cold('-----|');
      };
      const pass$ = (askedAt: number) => own.during({ ...noWork, syncPod: () => acts(askedAt) }).syncPod(run, signal);
      expectObservable(timer(0).pipe(mergeMap(() => pass$(4))));
      expectObservable(timer(10).pipe(mergeMap(() => pass$(2))));
      expectObservable(hot('--a---------- a', news).pipe(mergeMap(own.hints))).toBe('-');
      flush();
      expect(looks).toEqual(['15 a']);
    }),
  );

  it('belong to the pass during which they came, also when the next one begins as soon as that one has ended', () => {
    const looks: string[] = [];
    const own = ignoreOwnEvents((uid) => looks.push(uid));
    const during = { ...noWork, syncPod: () => defer(() => (own.hints(news.a), of({ isTerminal: false }))) };
    const inner: string[][] = [];
    const second$ = own
      .during({ ...noWork, syncTerminatedPod: () => of('second').pipe(tap(() => inner.push([...own.hints(news.a)]))) })
      .syncTerminatedPod(run, signal);
    const first$ = own.during(during).syncPod(run, signal);
    first$.pipe(tap({ complete: () => void lastValueFrom(second$) })).subscribe();
    expect(inner).toEqual([[]]);
    expect(looks).toEqual(['a', 'a']);
    expect(own.hints(news.a)).toEqual(['a']);
  });
});
