import { concat, map, NEVER, of, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import type { ShutdownSignal } from '../../src/streams/ports/shutdown-inhibitor.js';
import type { PodSpec } from '../../src/model/pod/pod.js';
import type { Behaviour } from '../support/fake-runtime.js';
import { forever, onNode, pod, SECOND, sets, type Stage } from './virtual-node.js';

const CRITICAL = 2_000_000_000;
const GROUPS = [
  { priority: 0, graceSeconds: 20 },
  { priority: CRITICAL, graceSeconds: 10 },
];
/** A pod whose only container has its name. */
const named = (name: string, spec: Partial<PodSpec>) =>
  pod({ containers: [{ name, image: 'host' }], ...spec }, { uid: name, name });
const low = named('low', { priority: 0, terminationGracePeriodSeconds: 30 });
const high = named('high', { priority: CRITICAL, terminationGracePeriodSeconds: 5 });
const late = named('late', { priority: 0 });
const STOP_IN_2S: Record<string, Behaviour> = {
  low: [{ stopsAfterMs: 2 * SECOND }],
  high: [{ stopsAfterMs: 2 * SECOND }],
};

/** The signals of the machine at these seconds. */
const signals = (at: Readonly<Record<number, ShutdownSignal>>) => (scheduler: TestScheduler) =>
  concat(
    of<ShutdownSignal>('watching'),
    ...Object.entries(at).map(([seconds, signal], index, all) =>
      timer((Number(seconds) - Number(all[index - 1]?.[0] ?? 0)) * SECOND, scheduler).pipe(map(() => signal)),
    ),
    NEVER,
  );
const stops = ({ fake }: Stage): readonly string[] => fake.history.filter((line) => /stop |exit/.test(line));

it('a shutdown of the machine stops the pods group by group, with the grace period of the group or their own, and then releases the lock', () => {
  const stage = onNode(
    { shutdownSignal$: signals({ 10: 'shutdown' }), behaviours: STOP_IN_2S, untilMs: 60 * SECOND },
    ({ start }) => start({ sources: { file: forever(high, low) }, shutdownGroups: GROUPS }),
  );
  expect(stops(stage)).toEqual(['10000 stop low 20', '12000 exit low 143', '12000 stop high 5', '14000 exit high 143']);
  expect(stage.locks.slice(0, 2)).toEqual(['0 taken', '14000 released']);
  expect(stage.events.filter((event) => event.endsWith('Shutdown'))).toEqual(['10000 Shutdown']);
});

it('pods that a shutdown stops have failed, and a pod that comes during it is rejected', () => {
  let shown: readonly unknown[] = [];
  onNode(
    { shutdownSignal$: signals({ 10: 'shutdown' }), behaviours: STOP_IN_2S, untilMs: 60 * SECOND },
    ({ start, scheduler }) => {
      const file = sets([0, [low]], [11 * SECOND, [low, late]]);
      const { pods } = start({ sources: { file }, shutdownGroups: GROUPS });
      scheduler.schedule(() => {
        shown = pods().map(({ metadata: { name }, status }) => [name, status?.phase, status?.reason, status?.message]);
      }, 59 * SECOND);
    },
  );
  expect(shown).toEqual([
    ['low', 'Failed', 'Terminated', 'Pod was terminated in response to imminent node shutdown.'],
    ['late', 'Failed', 'NodeShutdown', 'Pod was rejected: Pod was rejected as the node is shutting down.'],
  ]);
});

it('after a cancellation the node takes pods and the lock again', () => {
  let phase: string | undefined;
  const stage = onNode(
    {
      shutdownSignal$: signals({ 10: 'shutdown', 11: 'cancelled' }),
      behaviours: STOP_IN_2S,
      untilMs: 60 * SECOND,
    },
    ({ start, scheduler }) => {
      const file = sets([0, [low]], [20 * SECOND, [low, late]]);
      const { pods } = start({ sources: { file }, shutdownGroups: GROUPS });
      scheduler.schedule(
        () => (phase = pods().find(({ metadata }) => metadata.name === 'late')?.status?.phase),
        30 * SECOND,
      );
    },
  );
  expect(phase).toBe('Running');
  expect(stage.locks).toEqual(['0 taken', '12000 released', '12000 taken', '60000 released']);
});

it('a pod that ignores its signal holds the shutdown up for the seconds of its group, and a node whose groups have no pods is not held up', () => {
  const shutdownSignal$ = signals({ 10: 'shutdown' });
  const slow = onNode(
    { shutdownSignal$, behaviours: { low: [{ stopsAfterMs: 90 * SECOND }] }, untilMs: 60 * SECOND },
    ({ start }) => start({ sources: { file: forever(low) }, shutdownGroups: GROUPS }),
  );
  expect(slow.locks[1]).toBe('30000 released');
  const empty = onNode({ shutdownSignal$, untilMs: 60 * SECOND }, ({ start }) =>
    start({ sources: { file: forever() }, shutdownGroups: GROUPS }),
  );
  expect(empty.locks[1]).toBe('10000 released');
});

it('a request to stop all pods stops them in the same order, and leaves no mark of a shutdown', () => {
  let shown: readonly unknown[] = [];
  const stage = onNode({ behaviours: STOP_IN_2S, untilMs: 60 * SECOND }, ({ start, scheduler }) => {
    const stop$ = timer(10 * SECOND, scheduler).pipe(map(() => ({ reason: 'as the test says' })));
    const { pods } = start({ sources: { file: forever(high, low) }, shutdownGroups: GROUPS, stop$ });
    scheduler.schedule(() => (shown = pods().map(({ status }) => status?.reason)), 20 * SECOND);
  });
  expect(stops(stage)).toEqual(['10000 stop low 20', '12000 exit low 143', '12000 stop high 5', '14000 exit high 143']);
  expect(shown).toEqual([undefined, undefined]);
});

it('a request to stop all pods with a shorter grace period stops each of them in that time, and ends the agent', () => {
  let hasEnded = false;
  const stage = onNode({ behaviours: { low: [{ stopsAfterMs: 25 * SECOND }] }, untilMs: 90 * SECOND }, (node) => {
    const stop$ = timer(10 * SECOND, node.scheduler).pipe(map(() => ({ reason: 'as the test says', graceSeconds: 4 })));
    const { outcome$ } = node.agent({ sources: { file: forever(high, low) }, shutdownGroups: GROUPS, stop$ });
    const life = outcome$.subscribe({ complete: () => (hasEnded = true) });
    node.scheduler.schedule(() => life.unsubscribe(), 80 * SECOND);
  });
  expect(stops(stage)).toEqual(['10000 stop low 4', '14000 exit low 137', '14000 stop high 4', '14000 exit high 143']);
  expect(hasEnded).toBe(true);
});
