import { EMPTY, ignoreElements, merge, NEVER, of, tap, throwError, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '../../../src/model/pod/pod.js';
import type { ProbeOutcome } from '../../../src/model/probes/probe-outcome.js';
import type { ProbeRecords } from '../../../src/streams/ports/probe-records.js';
import { type Prober, prober, type ProberOptions } from '../../../src/streams/probes/prober.js';
import { aPod } from '../../support/a-pod.js';
import { aProbedStatus } from '../../support/a-probe.js';
import { memoryProbeRecords } from '../../support/memory-probe-records.js';
import { metricLines } from '../../support/metric-lines.js';
import { marbles } from '../marbles.js';

const probe = (port: number) => ({ tcpSocket: { port }, periodSeconds: 10, failureThreshold: 1 });
const containers = [{ name: 'main', image: 'host', readinessProbe: probe(1), livenessProbe: probe(2) }];
const sidecar = { name: 'sidecar', image: 'host', restartPolicy: 'Always', livenessProbe: probe(3) };
const web: Pod = aPod({ spec: { containers, initContainers: [sidecar] } });
const status: PodStatus = {
  ...aProbedStatus(),
  initContainerStatuses: [{ ...aProbedStatus().containerStatuses![0]!, name: 'sidecar', containerID: 'fake://s1' }],
};
const PORTS: Readonly<Record<number, string>> = { 1: 'readiness', 2: 'liveness', 3: 'sidecar' };
const bad: ProbeOutcome = { result: 'failure', output: 'no' };
const good: ProbeOutcome = { result: 'success', output: 'fine' };

/** Plays `steps` at their milliseconds while the prober runs for 30 s. */
const play = (
  steps: readonly (readonly [number, (prober: Prober) => void])[],
  {
    records = memoryProbeRecords(),
    outcome = bad,
    ...given
  }: { records?: ProbeRecords; outcome?: ProbeOutcome } & Partial<Pick<ProberOptions, 'agentStart' | 'startOf'>> = {},
) => {
  const probes: string[] = [];
  const logged: string[] = [];
  const { metrics, lines } = metricLines();
  marbles(({ scheduler, expectObservable }) => {
    const made = prober({
      handlers: {
        probe: ({ probe: { tcpSocket } }) => {
          probes.push(`${scheduler.now() / 1000} ${PORTS[Number(tcpSocket?.port)]}`);
          return of(outcome);
        },
      },
      records,
      statusOf: () => status,
      startedAt: () => 0,
      agentStart: { at: -100_000, wallTime: -100_000 },
      metrics,
      recordEvent: () => undefined,
      log: { warn: (_fields, message) => logged.push(message) },
      random: () => 0,
      scheduler,
      wallClock: () => scheduler.now(),
      ...given,
    });
    const step$ = merge(
      ...steps.map(([at, step]) =>
        timer(at, scheduler).pipe(
          tap(() => step(made)),
          ignoreElements(),
        ),
      ),
    );
    expectObservable(merge(made.prepare$, made.change$.pipe(ignoreElements()), step$), '30s !').toBe('');
  })();
  const ended = lines.filter((line) => line.startsWith('probeWorkerEnded')).length;
  return { probes, ended, logged };
};

describe('a container without a result yet', () => {
  const own = { containerId: 'c1', answeredAt: 0 };
  const wallTime = Date.parse('1970-01-01T00:01:00Z');
  it.each([
    ['of an earlier agent is as ready as the API says', 'fake://c1', undefined, wallTime, true],
    ['of an earlier agent is, also if the clock was set back since', 'fake://c1', undefined, -wallTime, true],
    ['that is not the one of the API is not', 'fake://c0', undefined, wallTime, false],
    ['of this agent is not, even if the clock was set back before', 'fake://c1', own, wallTime, false],
  ])('%s ready', (_, containerID, start, agentTime, expected) => {
    const conditions = [{ type: 'Ready', status: 'True' }];
    const pod = { ...web, status: { ...aProbedStatus({ containerID }), conditions } };
    const found: boolean[] = [];
    const look = (made: Prober) => found.push(made.findings(pod).isReady('c1', status.containerStatuses![0]!));
    play([[0, look]], { agentStart: { at: 0, wallTime: agentTime }, startOf: () => start });
    expect(found).toEqual([expected]);
  });
});

describe('the probes of a pod', () => {
  it('begin once, however often the pod is added', () => {
    const { probes } = play([
      [0, (made) => made.add(web)],
      [5, (made) => made.add(web)],
      [5_000, (made) => made.add(web)],
    ]);
    // A failed liveness probe has said its last word.
    expect(probes).toEqual(['0 readiness', '0 liveness', '0 sidecar', '10 readiness', '20 readiness']);
  });

  it('except readiness end with the life of the pod; a sidecar is still probed', () => {
    const { probes, ended } = play(
      [
        [0, (made) => made.add(web)],
        [15_000, (made) => made.stopLivenessAndStartup(web)],
      ],
      { outcome: good },
    );
    expect(probes.filter((line) => !line.startsWith('0') && !line.startsWith('10'))).toEqual([
      '20 readiness',
      '20 sidecar',
    ]);
    expect(ended).toBe(1);
  });

  it.each<[string, (made: Prober) => void]>([
    ['when it has stopped', (made) => made.remove('uid-1')],
    ['when no worker has it', (made) => made.retain(new Set())],
  ])('all end %s, and nothing is known any more', (_, end) => {
    const { probes, ended } = play([
      [0, (made) => made.add(web)],
      [5_000, end],
      [5_000, (made) => expect(made.results()).toBeDefined()],
      [5_000, (made) => expect(made.results()?.liveness('c1')).toBeUndefined()],
    ]);
    expect(probes).toEqual(['0 readiness', '0 liveness', '0 sidecar']);
    expect(ended).toBe(3);
  });

  it('go on while a worker has it', () => {
    const { probes } = play([
      [0, (made) => made.add(web)],
      [5_000, (made) => made.retain(new Set(['uid-1']))],
    ]);
    expect(probes).toContain('20 readiness');
  });

  it('can begin again when the pod comes back', () => {
    const { probes } = play([
      [0, (made) => made.add(web)],
      [5_000, (made) => made.remove('uid-1')],
      [6_000, (made) => made.add(web)],
    ]);
    expect(probes.slice(3, 6)).toEqual(['6 readiness', '6 liveness', '6 sidecar']);
  });

  it('say what is to be done to its containers', () => {
    play([
      [0, (made) => made.add(web)],
      [1, (made) => expect(made.results()?.liveness('c1')).toBe('failure')],
      [1, (made) => expect(made.results()?.startup('c1')).toBeUndefined()],
    ]);
  });

  it('ask for readiness at once when a status shows that only this is waited for', () => {
    const { probes } = play([
      [0, (made) => made.add(web)],
      [3_000, (made) => made.statusStored('uid-1', status)],
      [4_000, (made) => made.statusStored('uid-1', aProbedStatus({ ready: true }))],
      [5_000, (made) => made.statusStored('uid-1', aProbedStatus({ started: false }))],
    ]);
    expect(probes.filter((line) => line.endsWith('readiness'))).toEqual([
      '0 readiness',
      '3 readiness',
      '13 readiness',
      '23 readiness',
    ]);
  });
});

describe('without a subscription', () => {
  it('nothing is probed, and containers are as if they had no probes', () => {
    const never = prober({
      handlers: { probe: () => NEVER },
      records: memoryProbeRecords(),
      ...{ statusOf: () => status, startedAt: () => 0, agentStart: { at: 0, wallTime: 0 } },
      metrics: metricLines().metrics,
      ...{ recordEvent: () => undefined, log: { warn: () => undefined }, random: () => 0 },
      ...{ scheduler: { now: () => 0 } as TestScheduler, wallClock: () => 0 },
    });
    never.add(web);
    expect(never.results()).toBeUndefined();
    expect(never.findings(web).isReady('c1', status.containerStatuses![0]!)).toBe(true);
  });
});

it('goes on when what an earlier agent knew cannot be read', () => {
  const records: ProbeRecords = { read: () => throwError(() => new Error('garbage')), write: () => EMPTY };
  const { probes, logged } = play([[0, (made) => made.add(web)]], { records });
  expect(probes).toContain('0 readiness');
  expect(logged).toEqual(['cannot read the results of the probes of an earlier agent']);
});
