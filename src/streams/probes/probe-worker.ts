import {
  BehaviorSubject,
  concat,
  defer,
  distinctUntilChanged,
  filter,
  from,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  pairwise,
  type SchedulerLike,
  startWith,
  switchMap,
  takeWhile,
  timer,
} from 'rxjs';
import type { InstanceStart } from '../../model/pod-actions/instance-starts.js';
import { countProbe } from '../../model/probes/count-probe.js';
import { type ProbeEnd, probeEvent } from '../../model/probes/probe-event.js';
import type { ProbeResultStore } from '../../model/probes/probe-result-store.js';
import {
  NEW_PROBE_WORKER,
  type ProbeStep,
  probeTurn,
  type ProbeTurnFacts,
  type ProbeWorkerState,
  type ResultEffect,
} from '../../model/probes/probe-turn.js';
import type { ProbeResult, ProbeWorker } from '../../model/probes/probe-worker.js';
import type { PodStatus } from '../../model/pod/pod.js';
import { exhaustMapLatest } from '../operators/exhaust-map-latest.js';
import type { Metrics } from '../ports/metrics.js';
import type { ProbeHandlers } from '../ports/probe-handlers.js';
import type { Random } from '../ports/random.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { WallClock } from '../ports/wall-clock.js';
import { probeOnce } from './probe-once.js';

/** A new result for an instance. */
export interface ProbeChange {
  readonly worker: ProbeWorker;
  readonly containerId: string;
  readonly result: ProbeResult;
  /** The output of the probe; absent without a probe: the instance is new, or has ended. */
  readonly output?: string;
}

/** `look`: the status of the pod has changed, so the times of the ticks are computed again. `trigger`: probe now. */
export type ProbeNudge = 'look' | 'trigger';

export interface ProbeWorkerOptions {
  readonly handlers: ProbeHandlers;
  readonly results: ProbeResultStore;
  /** The newest status of the pod that this agent made. */
  readonly statusOf: (uid: string) => PodStatus | undefined;
  /** The start of an instance, in Unix milliseconds; undefined if the runtime has not reported it. */
  readonly startedAt: (uid: string, containerId: string) => number | undefined;
  /** The start of an instance by this agent; by default, every instance is of an earlier agent. */
  readonly startOf?: (uid: string, containerId: string) => InstanceStart | undefined;
  /** The start of the agent, by the scheduler and in Unix milliseconds. */
  readonly agentStart: { readonly at: number; readonly wallTime: number };
  readonly metrics: Pick<Metrics, 'probe'>;
  readonly recordEvent: RecordEvent;
  readonly random: Random;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** Marks the end of the worker; it is not emitted. */
const LEFT = Symbol('the worker has left');

/**
 * Probes one container in one way, every period after its initial delay, and emits the new results. Probes never overlap: a slow one
 * delays the next, and at most one missed tick is made up for. A worker that begins within a period after
 * the start of the agent waits for a random part of a period, if its container started before the agent.
 *
 * Errors: none.
 * Ends:   when the container will not run again. Unsubscribing cancels a running probe.
 * Source: pkg/kubelet/prober/worker.go
 */
export const probeWorker = (
  worker: ProbeWorker,
  nudge$: Observable<ProbeNudge>,
  options: ProbeWorkerOptions,
): Observable<ProbeChange> =>
  defer(() => {
    const { type, pod, container, pace } = worker;
    const { results, scheduler, wallClock, agentStart, startOf } = options;
    const { uid } = pod.metadata;
    // The loop closes here: turns and outcomes change the state, and the ticks follow it.
    const state$ = new BehaviorSubject(NEW_PROBE_WORKER);
    const now = scheduler.now();
    const heldUntil = now - agentStart.at < pace.periodMs ? now + options.random() * pace.periodMs : now;

    const facts = (): ProbeTurnFacts => ({
      status: options.statusOf(uid),
      startedAt: (containerId) => options.startedAt(uid, containerId),
      ...(startOf && { startOf: (containerId) => startOf(uid, containerId) }),
      resultOf: (containerId) => results.get(type, containerId),
      now: scheduler.now(),
      wallNow: wallClock(),
      agentStartedAt: agentStart.wallTime,
      heldUntil,
    });
    const periodOf = ({ hasSucceeded }: ProbeWorkerState) => (hasSucceeded ? pace.periodMs : pace.untilSuccessMs);

    /** The next ticks, as of now; changes nothing. */
    const agenda = (): Agenda => {
      const turn = probeTurn(worker, state$.value, facts());
      return {
        key: `${turn.state.containerId} ${isOpen(turn.step)}`,
        firstAt: (turn.step.kind === 'wait' ? turn.step.dueAt : undefined) ?? scheduler.now(),
        periodMs: periodOf(turn.state),
      };
    };
    const look$ = nudge$.pipe(
      filter((nudge) => nudge === 'look'),
      startWith('look'),
      map(agenda),
      distinctUntilChanged((before, after) => before.key === after.key),
    );
    const trigger$ = nudge$.pipe(
      filter((nudge) => nudge === 'trigger'),
      map(agenda),
    );
    /** After an outcome that changes the period, the next tick comes a whole period later. Another instance is no outcome. */
    const slowDown$ = state$.pipe(
      pairwise(),
      filter(([before, state]) => before.containerId === state.containerId && periodOf(before) !== periodOf(state)),
      map(([, state]): Agenda => {
        const after = periodOf(state);
        return { key: '', firstAt: scheduler.now() + after, periodMs: after };
      }),
    );
    const tick$ = merge(look$, trigger$, slowDown$).pipe(
      switchMap((next) => timer(Math.max(next.firstAt - scheduler.now(), 0), next.periodMs, scheduler)),
    );

    const set = (containerId: string, result: ProbeResult, output?: string): readonly ProbeChange[] => {
      const isNews = results.set(type, { uid, container: container.name, containerId }, result);
      return isNews ? [{ worker, containerId, result, ...(output !== undefined && { output }) }] : [];
    };
    const apply = (effects: readonly ResultEffect[]): readonly ProbeChange[] =>
      effects.flatMap((effect) => {
        if (effect.kind === 'set') return set(effect.containerId, effect.result);
        results.keepOnly(type, { uid, container: container.name }, effect.containerId);
        return [];
      });

    const conclude = (end: ProbeEnd, containerId: string, startedAt: number): readonly ProbeChange[] => {
      const event = probeEvent(type, end);
      if (event) options.recordEvent({ pod, container: container.name, ...event, causes: [] });
      // A probe without a result is not counted.
      if ('error' in end) return [];
      const result = end.result === 'failure' ? 'failure' : 'success';
      options.metrics.probe(worker, result, (scheduler.now() - startedAt) / 1000);
      const counted = countProbe(worker, state$.value, result);
      state$.next(counted.state);
      return counted.verdict ? set(containerId, counted.verdict, end.output) : [];
    };

    const takeTurn = (): Observable<ProbeChange | typeof LEFT> =>
      defer(() => {
        const startedAt = scheduler.now();
        const turn = probeTurn(worker, state$.value, facts());
        state$.next(turn.state);
        const change$ = from(apply(turn.effects));
        const { step } = turn;
        switch (step.kind) {
          case 'wait':
            return change$;
          case 'leave':
            return concat(change$, of(LEFT));
          case 'probe':
            return concat(
              change$,
              probeOnce(options.handlers, worker, step, scheduler).pipe(
                mergeMap((end) => conclude(end, step.containerId, startedAt)),
              ),
            );
        }
      });

    return tick$.pipe(
      exhaustMapLatest(takeTurn),
      takeWhile((change) => change !== LEFT),
    );
  });

/** The times of the ticks from now on. */
interface Agenda {
  /** The instance, and whether it is to be probed. A `look` changes the ticks only if this key has changed. */
  readonly key: string;
  /** The first tick, in the scheduler's milliseconds. */
  readonly firstAt: number;
  readonly periodMs: number;
}

/** Whether the container is probed now or later. */
const isOpen = (step: ProbeStep): boolean =>
  step.kind === 'probe' || (step.kind === 'wait' && step.dueAt !== undefined);
