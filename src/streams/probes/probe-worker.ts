import {
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
  type SchedulerLike,
  startWith,
  Subject,
  switchMap,
  takeWhile,
  timer,
} from 'rxjs';
import { countProbe } from '../../model/probes/count-probe.js';
import { type ProbeEnd, probeEvent } from '../../model/probes/probe-event.js';
import type { ProbeResultStore } from '../../model/probes/probe-result-store.js';
import {
  NEW_PROBE_WORKER,
  type ProbeStep,
  probeTurn,
  type ProbeTurnFacts,
  type ResultEffect,
} from '../../model/probes/probe-turn.js';
import type { ProbeResult, ProbeWorker } from '../../model/probes/probe-worker.js';
import type { PodStatus } from '../../model/pod.js';
import { exhaustMapLatest } from '../operators/exhaust-map-latest.js';
import type { Metrics, ProbeHandlers, Random, RecordEvent, WallClock } from '../ports.js';
import { probeOnce } from './probe-once.js';

/** What is newly known of an instance. */
export interface ProbeChange {
  readonly worker: ProbeWorker;
  readonly containerId: string;
  readonly result: ProbeResult;
  /** What the probe heard; absent where nobody probed: the instance is new, or has ended. */
  readonly output?: string;
}

/** `look`: the status of the pod has changed. `trigger`: probe now, whenever the next tick would be. */
export type ProbeNudge = 'look' | 'trigger';

export interface ProbeWorkerOptions {
  readonly handlers: ProbeHandlers;
  readonly results: ProbeResultStore;
  /** The newest status of the pod that this agent made. */
  readonly statusOf: (uid: string) => PodStatus | undefined;
  /** When an instance started, in Unix milliseconds, where the runtime has told. */
  readonly startedAt: (uid: string, containerId: string) => number | undefined;
  /** When the agent started: by the scheduler, and in Unix milliseconds. */
  readonly agentStart: { readonly at: number; readonly wallTime: number };
  readonly metrics: Pick<Metrics, 'probe'>;
  readonly recordEvent: RecordEvent;
  readonly random: Random;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** Somebody has left; nothing of it passes. */
const LEFT = Symbol('the worker has left');

/**
 * Probes one container in one way, every period from the end of its initial delay on, and emits what it comes to know. Two probes
 * never overlap; one that is slow delays the next, and ticks that it missed are not made up for. Just after the agent's own
 * start, containers that ran before it wait for a random part of a period.
 *
 * Errors: none.
 * Ends:   when the container will not run again. Unsubscribing gives up a probe that is under way.
 * Source: pkg/kubelet/prober/worker.go
 */
export const probeWorker = (
  worker: ProbeWorker,
  nudge$: Observable<ProbeNudge>,
  options: ProbeWorkerOptions,
): Observable<ProbeChange> =>
  defer(() => {
    const { type, pod, container, pace } = worker;
    const { results, scheduler, wallClock, agentStart } = options;
    const { uid } = pod.metadata;
    const slowDown$ = new Subject<Agenda>();
    let state = NEW_PROBE_WORKER;
    const now = scheduler.now();
    const heldUntil = now - agentStart.at < pace.periodMs ? now + options.random() * pace.periodMs : now;

    const facts = (): ProbeTurnFacts => ({
      status: options.statusOf(uid),
      startedAt: (containerId) => options.startedAt(uid, containerId),
      resultOf: (containerId) => results.get(type, containerId),
      now: scheduler.now(),
      wallNow: wallClock(),
      agentStartedAt: agentStart.wallTime,
      heldUntil,
    });
    const periodMs = () => (state.hasSucceeded ? pace.periodMs : pace.untilSuccessMs);

    /** What would be done now, without doing it. */
    const agenda = (): Agenda => {
      const turn = probeTurn(worker, state, facts());
      const { containerId, hasSucceeded } = turn.state;
      return {
        key: `${containerId} ${isOpen(turn.step)}`,
        firstAt: (turn.step.kind === 'wait' ? turn.step.dueAt : undefined) ?? scheduler.now(),
        periodMs: hasSucceeded ? pace.periodMs : pace.untilSuccessMs,
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
      // Nothing was found out, so nothing is counted.
      if ('error' in end) return [];
      const result = end.result === 'failure' ? 'failure' : 'success';
      options.metrics.probe(worker, result, (scheduler.now() - startedAt) / 1000);
      const before = periodMs();
      const counted = countProbe(worker, state, result);
      state = counted.state;
      const after = periodMs();
      if (after !== before) slowDown$.next({ key: '', firstAt: scheduler.now() + after, periodMs: after });
      return counted.verdict ? set(containerId, counted.verdict, end.output) : [];
    };

    const takeTurn = (): Observable<ProbeChange | typeof LEFT> =>
      defer(() => {
        const startedAt = scheduler.now();
        const turn = probeTurn(worker, state, facts());
        state = turn.state;
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
              probeOnce(options.handlers, worker, step).pipe(
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

/** When to tick from now on. */
interface Agenda {
  /** The instance, and whether it is to be probed: only when this changes, a look changes the ticks. */
  readonly key: string;
  /** The scheduler's milliseconds. */
  readonly firstAt: number;
  readonly periodMs: number;
}

/** It is probed now, or will be when its time comes. */
const isOpen = (step: ProbeStep): boolean =>
  step.kind === 'probe' || (step.kind === 'wait' && step.dueAt !== undefined);
