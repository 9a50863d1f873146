import { map, merge, NEVER, type Observable, of, tap, throwError, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../../../src/model/pod/pod.js';
import type { ProbePace } from '../../../src/model/probes/probe-pace.js';
import { ProbeResultStore } from '../../../src/model/probes/probe-result-store.js';
import type { ProbeType } from '../../../src/model/probes/probe-worker.js';
import type { ProbeOutcome } from '../../../src/model/probes/probe-outcome.js';
import type { ProbeTarget } from '../../../src/streams/ports/probe-handlers.js';
import { type ProbeNudge, probeWorker } from '../../../src/streams/probes/probe-worker.js';
import { aProbedPod, aProbedStatus, aProbeWorker } from '../../support/a-probe.js';
import { metricLines } from '../../support/metric-lines.js';
import { inTurn, marbles } from '../marbles.js';

/** The statuses of a pod, by the letter that stands for them in pictures. */
const statuses = {
  /** Nothing has been created. */
  n: aProbedStatus({ containerID: undefined, state: { waiting: {} }, started: false }),
  /** Runs, and has started. */
  r: aProbedStatus(),
  /** Runs, and has not started. */
  u: aProbedStatus({ started: false }),
  /** Another instance runs. */
  o: aProbedStatus({ containerID: 'fake://c2' }),
  /** Has ended. */
  x: aProbedStatus({ state: { terminated: { exitCode: 0 } }, started: false }),
  /** The pod has ended. */
  e: aProbedStatus({}, { phase: 'Succeeded' }),
} satisfies Record<string, PodStatus>;

interface Given {
  readonly type?: ProbeType;
  readonly pace?: Partial<ProbePace>;
  readonly status$?: Observable<PodStatus>;
  readonly trigger$?: Observable<unknown>;
  /** Of the instance, for the runtime. */
  readonly startedAt?: number;
  /** Of the agent. */
  readonly agentStartedAt?: number;
  readonly random?: () => number;
}

const stage = (
  scheduler: TestScheduler,
  answer: (target: ProbeTarget) => Observable<ProbeOutcome>,
  given: Given = {},
) => {
  const { type = 'readiness', pace = {}, status$ = of(statuses.r), trigger$ = NEVER } = given;
  const { startedAt = 0, agentStartedAt = -100_000, random = () => 0 } = given;
  let status: PodStatus | undefined;
  const events: string[] = [];
  const probes: number[] = [];
  const results = new ProbeResultStore();
  const { metrics, lines } = metricLines();
  const nudge$ = merge(
    status$.pipe(
      tap((next) => (status = next)),
      map((): ProbeNudge => 'look'),
    ),
    trigger$.pipe(map((): ProbeNudge => 'trigger')),
  );
  // The API knows the first instance.
  const pod = { ...aProbedPod(type), status: statuses.r };
  const worker = aProbeWorker(type, { periodMs: 4, failureThreshold: 1, ...pace }, pod);
  const change$ = probeWorker(worker, nudge$, {
    handlers: {
      probe: (target) => {
        probes.push(scheduler.now());
        return answer(target);
      },
    },
    ...{ results, scheduler, random },
    statusOf: () => status,
    startedAt: () => startedAt,
    agentStart: { at: agentStartedAt, wallTime: agentStartedAt },
    metrics,
    recordEvent: ({ reason, message }) => events.push(`${scheduler.now()} ${reason} ${message}`),
    wallClock: () => scheduler.now(),
  }).pipe(map(({ containerId, result }) => `${containerId} ${result}`));
  return { change$, events, probes, results, metrics: lines };
};

const success: ProbeOutcome = { result: 'success', output: 'fine' };
const failure: ProbeOutcome = { result: 'failure', output: 'no' };
const [c1Bad, c1Good, c2Bad, c2Good] = ['c1 failure', 'c1 success', 'c2 failure', 'c2 success'];

describe('a container that runs', () => {
  it(
    'is probed at once and then every period',
    marbles(({ cold, expectSubscriptions, expectObservable, scheduler }) => {
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const unsub = '          ---------!   ';
      const { change$ } = stage(scheduler, () => probe);
      expectObservable(change$, unsub).toBe('(fs)', { f: c1Bad, s: c1Good });
      expectSubscriptions(probe.subscriptions).toBe(['(^!)', '----(^!)', '--------(^!)']);
    }),
  );

  it(
    'is probed for the first time when its initial delay ends, not with a later tick',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    -r           ', statuses);
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      // It started at 1 ms and has a delay of 6 ms, so from 7 ms on every 4 ms.
      const runs = ['          -------(^!)  ', '-----------(^!)'];
      const expected = '       -------(fs)  ';
      const { change$ } = stage(scheduler, () => probe, { status$, startedAt: 1, pace: { initialDelayMs: 6 } });
      expectObservable(change$, '-------------!').toBe(expected, { f: c1Bad, s: c1Good });
      expectSubscriptions(probe.subscriptions).toBe(runs);
    }),
  );

  it(
    'is probed as soon as it is seen, between two ticks',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    n-r          ', statuses);
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const { change$ } = stage(scheduler, () => probe, { status$ });
      expectObservable(change$, '---------!').toBe('--(fs)', { f: c1Bad, s: c1Good });
      expectSubscriptions(probe.subscriptions).toBe(['--(^!)', '------(^!)']);
    }),
  );

  it(
    'is asked whether it is ready at once when its startup probe has succeeded',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    u----r       ', statuses);
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const { change$ } = stage(scheduler, () => probe, { status$ });
      expectObservable(change$, '------------!').toBe('f----s', { f: c1Bad, s: c1Good });
      expectSubscriptions(probe.subscriptions).toBe(['-----(^!)', '---------(^!)']);
    }),
  );

  it(
    'is asked at once though its initial delay ended before it had started',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    u------r     ', statuses);
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const { change$ } = stage(scheduler, () => probe, { status$, pace: { initialDelayMs: 2 } });
      expectObservable(change$, '----------!').toBe('f------s', { f: c1Bad, s: c1Good });
      expectSubscriptions(probe.subscriptions).toBe(['-------(^!)']);
    }),
  );

  it(
    'is not probed more often because its status changes',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    rrrrrrr      ', statuses);
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const { change$ } = stage(scheduler, () => probe, { status$ });
      expectObservable(change$, '-------!').toBe('(fs)', { f: c1Bad, s: c1Good });
      expectSubscriptions(probe.subscriptions).toBe(['(^!)', '----(^!)']);
    }),
  );
});

describe('a slow probe', () => {
  it(
    'delays the next one; they never overlap, and missed ticks are not made up for',
    marbles(({ cold, expectSubscriptions, expectObservable, scheduler }) => {
      const slow = cold<ProbeOutcome>('---------(s|)', { s: success });
      const quick = cold<ProbeOutcome>('(s|)', { s: success });
      const answer$ = inTurn<ProbeOutcome>(slow, quick, quick);
      const { change$ } = stage(scheduler, () => answer$);
      // Ticks at 4 and 8 are one that waits until 9.
      expectObservable(change$, '-------------!').toBe('f--------s', { f: c1Bad, s: c1Good });
      expectSubscriptions(slow.subscriptions).toBe('^--------!');
      expectSubscriptions(quick.subscriptions).toBe(['---------(^!)', '------------(^!)']);
    }),
  );

  it(
    'is given up with its worker',
    marbles(({ cold, expectSubscriptions, expectObservable, scheduler }) => {
      const never = cold<ProbeOutcome>('-');
      expectObservable(stage(scheduler, () => never).change$, '------!').toBe('f', { f: c1Bad });
      expectSubscriptions(never.subscriptions).toBe('^-----!');
    }),
  );
});

describe('a trigger', () => {
  it(
    'probes at once, and the next tick comes a period later',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const trigger$ = hot('   --t          ');
      const probe = cold<ProbeOutcome>('(f|)', { f: failure });
      const { change$ } = stage(scheduler, () => probe, { trigger$ });
      expectObservable(change$, '---------!').toBe('f', { f: c1Bad });
      expectSubscriptions(probe.subscriptions).toBe(['(^!)', '--(^!)', '------(^!)']);
    }),
  );

  it(
    'does not shorten an initial delay, nor does it put off its end',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const trigger$ = hot('   --t          ');
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const { change$ } = stage(scheduler, () => probe, { trigger$, pace: { initialDelayMs: 5 } });
      expectObservable(change$, '--------!').toBe('-----(fs)', { s: c1Good, f: c1Bad });
      expectSubscriptions(probe.subscriptions).toBe(['-----(^!)']);
    }),
  );

  it(
    'during a probe is answered right after it, once',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const trigger$ = hot('   -tt          ');
      const slow = cold<ProbeOutcome>('---(f|)', { f: failure });
      const { change$ } = stage(scheduler, () => slow, { trigger$, pace: { periodMs: 20 } });
      expectObservable(change$, '---------!').toBe('f', { f: c1Bad });
      expectSubscriptions(slow.subscriptions).toBe(['^--!', '---^--!']);
    }),
  );
});

describe('just after the start of the agent', () => {
  it(
    'a container that ran before it waits for a random part of the period',
    marbles(({ cold, expectSubscriptions, expectObservable, scheduler }) => {
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const given = { agentStartedAt: 0, startedAt: -60_000, random: () => 0.75 };
      expectObservable(stage(scheduler, () => probe, given).change$, '--------!').toBe('---s', { s: c1Good });
      expectSubscriptions(probe.subscriptions).toBe(['---(^!)', '-------(^!)']);
    }),
  );

  it.each([
    ['a container that it started itself does not wait', { agentStartedAt: 0, startedAt: 0 }],
    ['no container waits after the first period', { agentStartedAt: -4, startedAt: -60_000 }],
  ])('%s', (_, given) =>
    marbles(({ cold, expectSubscriptions, expectObservable, scheduler }) => {
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const { change$ } = stage(scheduler, () => probe, { ...given, random: () => 0.75 });
      expectObservable(change$, '--!').toBe(given.startedAt < 0 ? 's' : '(fs)', { f: c1Bad, s: c1Good });
      expectSubscriptions(probe.subscriptions).toBe(['(^!)']);
    })(),
  );
});

describe('a probe that finds nothing out', () => {
  it('is tried three times, one after the other, and counts for nothing', () => {
    let seen!: ReturnType<typeof stage>;
    marbles(({ expectObservable, scheduler }) => {
      seen = stage(scheduler, () => throwError(() => new Error('away')));
      expectObservable(seen.change$, '-----!').toBe('f', { f: c1Bad });
    })();
    expect(seen.probes).toEqual([0, 0, 0, 4, 4, 4]);
    expect(seen.metrics).toEqual([]);
    const told = 'Unhealthy Readiness probe errored and resulted in unknown state: away';
    expect(seen.events).toEqual([`0 ${told}`, `4 ${told}`]);
  });

  it('is not tried again once something is found out', () => {
    let seen!: ReturnType<typeof stage>;
    marbles(({ expectObservable, scheduler }) => {
      const answer$ = inTurn<ProbeOutcome>(
        throwError(() => new Error('away')),
        of(failure),
        of(success),
      );
      seen = stage(scheduler, () => answer$);
      expectObservable(seen.change$, '---!').toBe('f', { f: c1Bad });
    })();
    expect(seen.probes).toEqual([0, 0]);
    expect(seen.events).toEqual(['0 Unhealthy Readiness probe failed: no']);
  });
});

describe('a period until the first success', () => {
  it(
    'ends with it: the next probe comes a whole period later',
    marbles(({ cold, expectSubscriptions, expectObservable, scheduler }) => {
      const bad = cold<ProbeOutcome>('(f|)', { f: failure });
      const good = cold<ProbeOutcome>('-(s|)', { s: success });
      const answer$ = inTurn<ProbeOutcome>(bad, bad, good, good);
      const { change$ } = stage(scheduler, () => answer$, { pace: { periodMs: 6, untilSuccessMs: 2 } });
      expectObservable(change$, '-------------!').toBe('f----s', { f: c1Bad, s: c1Good });
      expectSubscriptions(bad.subscriptions).toBe(['(^!)', '--(^!)']);
      expectSubscriptions(good.subscriptions).toBe(['----^!', '-----------^!']);
    }),
  );

  it(
    'begins again with another instance',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    r---o        ', statuses);
      const good = cold<ProbeOutcome>('(s|)', { s: success });
      const bad = cold<ProbeOutcome>('(f|)', { f: failure });
      const answer$ = inTurn<ProbeOutcome>(good, bad, bad, good);
      const { change$ } = stage(scheduler, () => answer$, { status$, pace: { periodMs: 20, untilSuccessMs: 2 } });
      const values = { a: c1Bad, b: c1Good, c: c2Bad, d: c2Good };
      expectObservable(change$, '-----------!').toBe('(ab)c---d', values);
      expectSubscriptions(bad.subscriptions).toBe(['----(^!)', '------(^!)']);
    }),
  );

  it(
    'a new instance that is found after a slow probe is probed at the ticks since its status',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    r----------o        ', statuses);
      const good = cold<ProbeOutcome>('(s|)', { s: success });
      const slow = cold<ProbeOutcome>('---(s|)', { s: success });
      const bad = cold<ProbeOutcome>('(f|)', { f: failure });
      const answer$ = inTurn<ProbeOutcome>(good, slow, bad, bad, good);
      const { change$ } = stage(scheduler, () => answer$, { status$, pace: { periodMs: 10, untilSuccessMs: 4 } });
      const values = { a: c1Bad, b: c1Good, c: c2Bad, d: c2Good };
      expectObservable(change$, '--------------------!').toBe('(ab)---------c-----d', values);
      expectSubscriptions(slow.subscriptions).toBe(['----------^--!']);
      expectSubscriptions(bad.subscriptions).toBe(['-------------(^!)', '---------------(^!)']);
    }),
  );
});

describe('after its last word on an instance', () => {
  it(
    'a liveness probe is silent until there is another one, which it probes at once',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    r-----------o', statuses);
      const probe = cold<ProbeOutcome>('(f|)', { f: failure });
      const given = { type: 'liveness', status$, pace: { failureThreshold: 2 } } as const;
      const values = { a: c1Good, b: c1Bad, c: c2Good };
      expectObservable(stage(scheduler, () => probe, given).change$, '--------------!').toBe('a---b-------c', values);
      expectSubscriptions(probe.subscriptions).toBe(['(^!)', '----(^!)', '------------(^!)']);
    }),
  );

  it.each([success, failure])('so is a startup probe after a $result', (outcome) =>
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    u            ', statuses);
      const probe = cold<ProbeOutcome>('(o|)', { o: outcome });
      const { change$ } = stage(scheduler, () => probe, { type: 'startup', status$ });
      expectObservable(change$, '----------!').toBe('(ab)', { a: 'c1 unknown', b: `c1 ${outcome.result}` });
      expectSubscriptions(probe.subscriptions).toBe(['(^!)']);
    })(),
  );
});

describe('the end', () => {
  it(
    'of a container is known at once, and its successor is probed at once',
    marbles(({ cold, hot, expectSubscriptions, expectObservable, scheduler }) => {
      const status$ = hot('    r-----x-o    ', statuses);
      const probe = cold<ProbeOutcome>('(s|)', { s: success });
      const { change$, results } = stage(scheduler, () => probe, { status$ });
      const values = { a: c1Bad, b: c1Good, c: c1Bad, d: c2Bad, e: c2Good };
      expectObservable(
        change$.pipe(tap({ finalize: () => expect(results.get('readiness', 'c1')).toBeUndefined() })),
        '-----------!',
      ).toBe('(ab)--c-(de)', values);
      expectSubscriptions(probe.subscriptions).toBe(['(^!)', '----(^!)', '--------(^!)']);
    }),
  );

  it(
    'of the pod is the end of its worker',
    marbles(({ hot, expectObservable, scheduler }) => {
      const status$ = hot('    r---e        ', statuses);
      expectObservable(stage(scheduler, () => of(success), { status$ }).change$).toBe('(ab)|', { a: c1Bad, b: c1Good });
    }),
  );
});

it('measures what finds something out from the beginning of the turn', () => {
  let seen!: ReturnType<typeof stage>;
  marbles(({ expectObservable, scheduler }) => {
    const answer$ = inTurn<ProbeOutcome>(timer(2, scheduler).pipe(map(() => success)), of(failure));
    seen = stage(scheduler, () => answer$);
    expectObservable(seen.change$, '-----!').toBe('f-s-f', { f: c1Bad, s: c1Good });
  })();
  expect(seen.metrics.map((line) => line.replace(/\{.*\}/, 'main'))).toEqual([
    'probe main success 0.002',
    'probe main failure 0',
  ]);
});
