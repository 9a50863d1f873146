import { it } from 'vitest';
import { PodWorkerRegistry } from '../../../src/model/pod-workers/pod-worker-registry.js';
import { untilStopped } from '../../../src/streams/pod-workers/until-stopped.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

/** A pod with a running container. */
const runningPod = () => {
  const workers = new PodWorkerRegistry();
  workers.update({ type: 'create', pod: aPod(), causes: [] }, 0);
  workers.start('uid-1', 0);
  return workers;
};
const kill = (workers: PodWorkerRegistry): void => {
  workers.complete('uid-1', 'sync', { isTerminal: false }, 1);
  workers.update({ type: 'kill', pod: aPod(), causes: [] }, 1);
  workers.start('uid-1', 1);
};
const OUTCOMES = { p: { uid: 'uid-1' }, o: { uid: 'other' } };

it(
  'the wait for a pod ends with the outcome after which none of its containers can run',
  marbles(({ hot, expectObservable, expectSubscriptions, scheduler }) => {
    const workers = runningPod();
    const outcome$ = hot('--p-o-p-p', OUTCOMES);
    const expected = '     ------|  ';
    const runs = ['        ^-----!  '];
    scheduler.schedule(() => kill(workers), 3);
    scheduler.schedule(() => workers.complete('uid-1', 'terminating', { isTerminal: false }, 5), 5);
    expectObservable(untilStopped({ workers }, outcome$)('uid-1')).toBe(expected);
    expectSubscriptions(outcome$.subscriptions).toBe(runs);
  }),
);

it(
  'the outcome of another pod, and one of a failed stop, do not end the wait',
  marbles(({ hot, expectObservable, scheduler }) => {
    const workers = runningPod();
    kill(workers);
    scheduler.schedule(() => workers.complete('uid-1', 'terminating', { error: new Error('busy') }, 1), 1);
    expectObservable(untilStopped({ workers }, hot('--p-o', OUTCOMES))('uid-1'), '^-----!').toBe('------');
  }),
);

it(
  'the wait for a pod that has stopped, or has no worker, ends at once',
  marbles(({ hot, expectObservable, expectSubscriptions }) => {
    const workers = runningPod();
    kill(workers);
    workers.complete('uid-1', 'terminating', { isTerminal: false }, 2);
    const outcome$ = hot('-p', OUTCOMES);
    expectObservable(untilStopped({ workers }, outcome$)('uid-1')).toBe('|');
    expectObservable(untilStopped({ workers }, outcome$)('unknown')).toBe('|');
    expectSubscriptions(outcome$.subscriptions).toBe([]);
  }),
);
