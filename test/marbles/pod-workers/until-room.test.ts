import { EMPTY, type SchedulerLike } from 'rxjs';
import { expect, it } from 'vitest';
import { untilRoom } from '../../../src/streams/pod-workers/until-room.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const waiting = aPod({ uid: 'dns', name: 'dns' });
const victim = (uid: string, terminationGracePeriodSeconds = 30) =>
  aPod({ uid, name: uid, source: 'api', spec: { terminationGracePeriodSeconds } });

/** A pod that waits since 0 for these, which are being stopped. */
const stageOf = (scheduler: SchedulerLike, pods: readonly ReturnType<typeof victim>[]) => {
  const state = kubeletState();
  const { workers } = state;
  const did: string[] = [];
  for (const pod of pods) {
    const { uid } = pod.metadata;
    workers.update({ type: 'create', pod, causes: [] }, 0);
    workers.start(uid, 0);
    workers.complete(uid, 'sync', { isTerminal: false }, 0);
    workers.update({ type: 'kill', pod, causes: [] }, 0);
    workers.start(uid, 0);
  }
  state.apply({ kind: 'room-awaited', uid: 'dns', victims: pods.map(({ metadata }) => metadata.uid), pods, since: 0 });
  const wait = untilRoom({
    state,
    recordEvent: ({ pod, reason }) => did.push(`${scheduler.now()} ${reason} ${pod?.metadata.name}`),
    log: { debug: () => EMPTY, info: () => EMPTY, error: () => EMPTY, warn: (_, text) => did.push(text) },
    scheduler,
  });
  return {
    state,
    did,
    wait$: wait(waiting, ({ text }) => did.push(text)),
    stopped: (uid: string): void => {
      workers.complete(uid, 'terminating', { isTerminal: false }, scheduler.now());
      state.apply({ kind: 'run-ended', uid });
    },
  };
};

it(
  'a pod waits until all pods have stopped that make room for it, and then waits no longer',
  marbles(({ hot, expectObservable, scheduler, flush }) => {
    const stops$ = hot('--a--b-');
    const expected = '  -----|';
    const { state, did, wait$, stopped } = stageOf(scheduler, [victim('a'), victim('b')]);
    stops$.subscribe(stopped);
    expectObservable(wait$).toBe(expected);
    expectObservable(wait$, '------^').toBe('------|');
    flush();
    expect(did).toEqual(['waits until the pods have stopped that make room for it: a_default(a), b_default(b)']);
    expect(state.value.preemptions.waits.size).toBe(0);
  }),
);

it.each<[what: string, graceSeconds: number, from: string, expected: string]>([
  ['one and a half times its grace period', 30, '^', '45s |'],
  ['ten seconds, if that is longer', 2, '^', '10s |'],
  ['its time since the admission, also by a later run', 2, '4s ^', '10s |'],
])('a pod that does not stop is waited for for %s', (_, graceSeconds, from, expected) =>
  marbles(({ expectObservable, scheduler, flush }) => {
    const { did, wait$ } = stageOf(scheduler, [victim('a', graceSeconds)]);
    expectObservable(wait$, from).toBe(expected);
    flush();
    expect(did.slice(1)).toEqual([
      `${scheduler.now()} ExceededGracePeriod a`,
      'a pod that makes room has not stopped in time',
    ]);
  })(),
);

it(
  'a pod for which no other one is stopped does not wait',
  marbles(({ expectObservable, scheduler }) => {
    const { wait$, state } = stageOf(scheduler, []);
    state.apply({ kind: 'room-made', uid: 'dns' });
    expectObservable(wait$).toBe('|');
  }),
);
