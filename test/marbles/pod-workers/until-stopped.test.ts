import type { SchedulerLike } from 'rxjs';
import { it } from 'vitest';
import { untilStopped } from '../../../src/streams/pod-workers/until-stopped.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

/** A pod that is being stopped, and the ends of runs. */
const stoppingPod = (scheduler: SchedulerLike) => {
  const state = kubeletState();
  const { workers } = state;
  workers.update({ type: 'create', pod: aPod(), causes: [] }, 0);
  workers.start('uid-1', 0);
  workers.complete('uid-1', 'sync', { isTerminal: false }, 0);
  workers.update({ type: 'kill', pod: aPod(), causes: [] }, 0);
  workers.start('uid-1', 0);
  const end = (result: { readonly error: Error } | { readonly isTerminal: false }, at: number): void => {
    workers.complete('uid-1', 'terminating', result, at);
    state.apply({ kind: 'run-ended', uid: 'uid-1' });
  };
  const endOther = (): void => void state.apply({ kind: 'run-ended', uid: 'other' });
  return { end, endOther, wait: untilStopped(state, scheduler) };
};

it(
  'the wait for a pod ends with the run after which none of its containers can run',
  marbles(({ hot, expectObservable, scheduler }) => {
    const runs$ = hot(' --o-s-');
    const expected = '  ----| ';
    const { end, endOther, wait } = stoppingPod(scheduler);
    runs$.subscribe((run) => (run === 's' ? end({ isTerminal: false }, 4) : endOther()));
    expectObservable(wait('uid-1')).toBe(expected);
  }),
);

it(
  'the run of another pod, and a stop that failed, do not end the wait',
  marbles(({ hot, expectObservable, scheduler }) => {
    const runs$ = hot(' --f-o-');
    const expected = '  ------';
    const { end, endOther, wait } = stoppingPod(scheduler);
    runs$.subscribe((run) => (run === 'f' ? end({ error: new Error('busy') }, 2) : endOther()));
    expectObservable(wait('uid-1'), '^-----!').toBe(expected);
  }),
);

it(
  'the wait for a pod that has stopped, or has no worker, ends at once',
  marbles(({ expectObservable, scheduler }) => {
    const { end, wait } = stoppingPod(scheduler);
    end({ isTerminal: false }, 0);
    expectObservable(wait('uid-1')).toBe('|');
    expectObservable(wait('unknown')).toBe('|');
  }),
);
