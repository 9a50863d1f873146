import fc from 'fast-check';
import { map, of, Subject, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import type { PodStatus } from '../../../src/model/pod/pod.js';
import { ProbeResultStore } from '../../../src/model/probes/probe-result-store.js';
import type { ProbeType } from '../../../src/model/probes/probe-worker.js';
import type { ProbeOutcome } from '../../../src/model/probes/probe-outcome.js';
import { type ProbeNudge, probeWorker } from '../../../src/streams/probes/probe-worker.js';
import { aProbedStatus, aProbeWorker } from '../../support/a-probe.js';
import { metricLines } from '../../support/metric-lines.js';

/** Milliseconds. All drawn times are multiples of it, and the durations of probes multiples of its half. */
const GRID = 10;
const UNTIL = 2_000;

interface Look {
  readonly instance: 1 | 2 | 3;
  readonly is: 'away' | 'starting' | 'up' | 'exited';
}
interface History {
  readonly type: ProbeType;
  readonly periodMs: number;
  readonly initialDelayMs: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
  /** 0, or a part of a period just after the agent's start. */
  readonly random: number;
  readonly agentStartedAt: number;
  readonly first: Look;
  readonly steps: readonly { readonly gap: number; readonly does: Look | 'trigger' }[];
  /** The last is repeated. */
  readonly probes: readonly { readonly lasts: number; readonly result: 'success' | 'failure' }[];
}

const startOf = (instance: number): number => (instance - 3) * 4 * GRID;
const statusOf = ({ instance, is }: Look): PodStatus => {
  const containerID = is === 'away' ? undefined : `fake://c${instance}`;
  const state = is === 'exited' ? { terminated: { exitCode: 1 } } : is === 'away' ? { waiting: {} } : undefined;
  return aProbedStatus({ containerID, started: is === 'up', ...(state && { state }) });
};

/** The worker over the history: when it probes, and what becomes known. */
const real = (history: History): readonly string[] => {
  const said: string[] = [];
  const scheduler = new TestScheduler(() => true);
  scheduler.run(() => {
    let status = statusOf(history.first);
    let probes = 0;
    const nudge$ = new Subject<ProbeNudge>();
    let at = 0;
    for (const { gap, does } of history.steps) {
      at += gap;
      scheduler.schedule(() => {
        if (does !== 'trigger') status = statusOf(does);
        nudge$.next(does === 'trigger' ? 'trigger' : 'look');
      }, at);
    }
    const { type, random, agentStartedAt, probes: outcomes, ...pace } = history;
    const subscription = probeWorker(aProbeWorker(type, pace), nudge$, {
      handlers: {
        probe: () => {
          said.push(`${scheduler.now()} probe`);
          const { lasts, result } = outcomes[Math.min(probes++, outcomes.length - 1)]!;
          const outcome: ProbeOutcome = { result, output: '' };
          return lasts === 0 ? of(outcome) : timer(lasts, scheduler).pipe(map(() => outcome));
        },
      },
      results: new ProbeResultStore(),
      statusOf: () => status,
      startedAt: (_, containerId) => startOf(Number(containerId.slice(1))),
      agentStart: { at: agentStartedAt, wallTime: agentStartedAt },
      metrics: metricLines().metrics,
      recordEvent: () => undefined,
      random: () => random,
      scheduler,
      wallClock: () => scheduler.now(),
    }).subscribe(({ containerId, result }) => said.push(`${scheduler.now()} ${containerId} ${result}`));
    scheduler.schedule(() => subscription.unsubscribe(), UNTIL);
  });
  return said;
};

/** The same as a loop over time with variables, in the words of docs/probes.md. */
const naive = (history: History): readonly string[] => {
  const { type, periodMs, initialDelayMs, successThreshold, failureThreshold, agentStartedAt, probes } = history;
  const said: string[] = [];
  const known = new Map<string, string>();
  const heldUntil = 0 - agentStartedAt < periodMs ? history.random * periodMs : 0;
  const initial = { startup: 'unknown', readiness: 'failure', liveness: 'success' }[type];
  let look = history.first;
  let instance: number | undefined;
  let isOnHold = false;
  let [last, run] = ['success', 0];
  let asked = 0;
  let busy: { readonly endsAt: number; readonly result: 'success' | 'failure'; readonly id: string } | undefined;
  let isPending = false;

  const set = (now: number, id: string, result: string): void => {
    if (known.get(id) !== result) said.push(`${now} ${id} ${result}`);
    known.set(id, result);
  };
  const gateIsOpen = (): boolean =>
    (look.is === 'starting' || look.is === 'up') &&
    (type === 'startup') === (look.is === 'starting') &&
    !(isOnHold && instance === look.instance);
  const firstAt = (now: number): number => {
    if (!gateIsOpen()) return now;
    const due = startOf(look.instance) + initialDelayMs;
    const held = startOf(look.instance) < agentStartedAt ? heldUntil : 0;
    return due > now ? due : Math.max(now, held);
  };
  const keyOf = (): string => `${look.is === 'away' ? instance : look.instance} ${gateIsOpen()}`;
  const conclude = (now: number, id: string, result: 'success' | 'failure'): void => {
    [last, run] = [result, last === result ? run + 1 : 1];
    if (run < (result === 'success' ? successThreshold : failureThreshold)) return;
    set(now, id, result);
    if (type === 'startup' || (type === 'liveness' && result === 'failure')) [isOnHold, run] = [true, 0];
  };
  const turn = (now: number): void => {
    if (look.is === 'away') return;
    const id = `c${look.instance}`;
    if (instance !== look.instance) {
      for (const other of known.keys()) if (other !== id) known.delete(other);
      [instance, isOnHold, last, run] = [look.instance, false, 'success', 0];
      const running = look.is !== 'exited';
      if (!known.has(id)) set(now, id, running && look.is === 'up' && type === 'startup' ? 'success' : initial);
    }
    if (isOnHold) return;
    if (look.is === 'exited') return set(now, id, 'failure');
    if (!gateIsOpen() || now < startOf(look.instance) + initialDelayMs) return;
    if (startOf(look.instance) < agentStartedAt && now < heldUntil) return;
    said.push(`${now} probe`);
    const { lasts, result } = probes[Math.min(asked++, probes.length - 1)]!;
    if (lasts === 0) conclude(now, id, result);
    else busy = { endsAt: now + lasts, result, id };
  };

  const takePending = (now: number): void => {
    if (busy || !isPending) return;
    isPending = false;
    turn(now);
  };

  let key = keyOf();
  let nextTick = firstAt(0);
  const steps = history.steps.map(({ does }, index) => ({
    does,
    at: history.steps.slice(0, index + 1).reduce((sum, { gap }) => sum + gap, 0),
  }));
  for (let now = 0; now < UNTIL; now += GRID / 2) {
    for (const { does } of steps.filter(({ at }) => at === now)) {
      if (does === 'trigger') nextTick = firstAt(now);
      else {
        look = does;
        if (keyOf() !== key) [key, nextTick] = [keyOf(), firstAt(now)];
      }
    }
    if (busy?.endsAt === now) {
      const { id, result } = busy;
      busy = undefined;
      conclude(now, id, result);
      takePending(now);
    }
    if (nextTick === now) {
      isPending = true;
      nextTick += periodMs;
    }
    takePending(now);
  }
  return said;
};

const grid = (min: number, max: number) => fc.integer({ min, max }).map((steps) => steps * GRID);
const look: fc.Arbitrary<Look> = fc.record({
  instance: fc.constantFrom(1, 2, 3),
  is: fc.constantFrom('away', 'starting', 'up', 'up', 'exited'),
});
const history: fc.Arbitrary<History> = fc.record({
  type: fc.constantFrom('startup', 'readiness', 'liveness'),
  periodMs: fc.integer({ min: 1, max: 6 }).map((steps) => steps * 2 * GRID),
  initialDelayMs: grid(0, 12),
  successThreshold: fc.integer({ min: 1, max: 3 }),
  failureThreshold: fc.integer({ min: 1, max: 3 }),
  random: fc.constantFrom(0, 0.5),
  agentStartedAt: fc.constantFrom(0, -30, -1_000),
  first: look,
  steps: fc.array(
    fc.record({
      gap: grid(1, 15),
      does: fc.oneof({ weight: 4, arbitrary: look }, { weight: 1, arbitrary: fc.constant('trigger' as const) }),
    }),
    { maxLength: 20 },
  ),
  probes: fc.array(
    fc.record({
      lasts: fc.oneof(
        fc.constant(0),
        grid(0, 20).map((whole) => whole + GRID / 2),
      ),
      result: fc.constantFrom('success', 'failure'),
    }),
    { minLength: 1, maxLength: 20 },
  ),
});

it('makes the probes and finds the results of a loop with variables, in any history of its container', () => {
  fc.assert(
    fc.property(history, (each) => {
      expect(real(each)).toEqual(naive(each));
    }),
    { numRuns: 100 },
  );
});
