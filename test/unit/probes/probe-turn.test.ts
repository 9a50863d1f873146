import { describe, expect, it } from 'vitest';
import {
  NEW_PROBE_WORKER,
  probeTurn,
  type ProbeTurnFacts,
  type ProbeWorkerState,
} from '../../../src/model/probes/probe-turn.js';
import type { ProbeType } from '../../../src/model/probes/probe-worker.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { aProbedPod, aProbedStatus, aProbeWorker, someFacts } from '../../support/a-probe.js';

const TYPES: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];
const exited = (exitCode: number) => ({ state: { terminated: { exitCode } }, started: false });
/** It has seen this instance before. */
const knows: ProbeWorkerState = { ...NEW_PROBE_WORKER, containerId: 'c1', dueAt: 0 };

interface Row {
  readonly row: string;
  readonly types?: readonly ProbeType[];
  readonly facts?: Partial<ProbeTurnFacts>;
  readonly state?: Partial<ProbeWorkerState>;
  readonly initialDelayMs?: number;
  readonly spec?: Partial<PodSpec>;
  readonly deleted?: boolean;
  /** `probe`, or the reason of a step of another kind. */
  readonly step: string;
  /** What becomes known of the instance. */
  readonly sets?: string;
}

const table: readonly Row[] = [
  { row: 'no status', facts: { status: undefined }, step: 'wait: the pod has no status yet' },
  { row: 'Succeeded', facts: { status: aProbedStatus({}, { phase: 'Succeeded' }) }, step: 'leave: the pod has ended' },
  { row: 'Failed', facts: { status: aProbedStatus({}, { phase: 'Failed' }) }, step: 'leave: the pod has ended' },
  {
    row: 'a container that the status does not show',
    facts: { status: { phase: 'Running' } },
    step: 'wait: the container has not been created',
  },
  {
    row: 'a container without an id',
    facts: { status: aProbedStatus({ containerID: undefined }) },
    step: 'wait: the container has not been created',
  },
  {
    row: 'on hold',
    state: { isOnHold: true },
    facts: { status: aProbedStatus({ started: false }) },
    step: 'wait: its last word on this instance is said',
  },
  {
    row: 'on hold goes before not running',
    state: { isOnHold: true },
    facts: { status: aProbedStatus(exited(1)) },
    step: 'wait: its last word on this instance is said',
  },
  {
    row: 'waiting',
    types: ['readiness'],
    facts: { status: aProbedStatus({ state: { waiting: {} } }) },
    step: 'wait: the container does not run',
    sets: 'failure',
  },
  {
    row: 'waiting, and not to be killed for that once it runs',
    types: ['startup', 'liveness'],
    facts: { status: aProbedStatus({ state: { waiting: {} } }) },
    step: 'wait: the container does not run',
  },
  {
    row: 'exited, restartPolicy Always',
    facts: { status: aProbedStatus(exited(0)) },
    step: 'wait: the container does not run',
    sets: 'failure',
  },
  {
    row: 'exited with 1, OnFailure',
    spec: { restartPolicy: 'OnFailure' },
    facts: { status: aProbedStatus(exited(1)) },
    step: 'wait: the container does not run',
    sets: 'failure',
  },
  {
    row: 'exited with 0, OnFailure',
    spec: { restartPolicy: 'OnFailure' },
    facts: { status: aProbedStatus(exited(0)) },
    step: 'leave: the container does not run again',
    sets: 'failure',
  },
  {
    row: 'exited, Never',
    spec: { restartPolicy: 'Never' },
    facts: { status: aProbedStatus(exited(1)) },
    step: 'leave: the container does not run again',
    sets: 'failure',
  },
  {
    row: 'exited, Never, in a pod whose containers are all restarted',
    spec: { restartPolicy: 'Never' },
    facts: {
      status: aProbedStatus(exited(1), { conditions: [{ type: 'AllContainersRestarting', status: 'True' }] }),
    },
    step: 'wait: the container does not run',
    sets: 'failure',
  },
  {
    row: 'exited to be restarted with all others, Never',
    spec: { restartPolicy: 'Never' },
    facts: {
      status: aProbedStatus({ state: { terminated: { exitCode: 1, reason: 'RestartingAllContainers' } } }),
    },
    step: 'wait: the container does not run',
    sets: 'failure',
  },
  {
    row: 'being deleted',
    types: ['startup', 'liveness'],
    deleted: true,
    step: 'leave: the pod is being deleted',
    sets: 'success',
  },
  { row: 'being deleted', types: ['readiness'], deleted: true, step: 'probe' },
  { row: 'a startup that was seen', types: ['startup'], step: 'wait: the container has started' },
  {
    row: 'no startup yet',
    types: ['readiness', 'liveness'],
    facts: { status: aProbedStatus({ started: false }) },
    step: 'wait: the container has not started',
  },
  {
    row: 'no startup yet',
    types: ['startup'],
    facts: { status: aProbedStatus({ started: false }) },
    step: 'probe',
  },
  {
    row: 'a millisecond before the initial delay ends',
    types: ['readiness', 'liveness'],
    initialDelayMs: 5_000,
    state: { dueAt: undefined },
    facts: { wallNow: 104_999 },
    step: 'wait: its initial delay is not over at 100001',
  },
  {
    row: 'when the initial delay ends',
    types: ['readiness', 'liveness'],
    initialDelayMs: 5_000,
    state: { dueAt: undefined },
    facts: { wallNow: 105_000 },
    step: 'probe',
  },
  {
    row: 'a wall clock that was set back',
    types: ['readiness', 'liveness'],
    initialDelayMs: 5_000,
    state: { dueAt: undefined },
    facts: { wallNow: 0 },
    step: 'wait: its initial delay is not over at 105000',
  },
  {
    row: 'a clock of the runtime that is behind, and a start by this agent',
    types: ['readiness', 'liveness'],
    initialDelayMs: 5_000,
    state: { dueAt: undefined },
    facts: { startedAt: () => 40_000, startOf: () => ({ containerId: 'c1', answeredAt: 99_000 }) },
    step: 'wait: its initial delay is not over at 104000',
  },
  {
    row: 'the same before the start was answered',
    types: ['readiness', 'liveness'],
    initialDelayMs: 5_000,
    state: { dueAt: undefined },
    facts: { startedAt: () => 40_000, startOf: () => ({ containerId: 'c1' }) },
    step: 'wait: its initial delay is not over at 105000',
  },
  {
    row: 'a clock of the runtime that is ahead, and a start by this agent',
    types: ['readiness', 'liveness'],
    initialDelayMs: 5_000,
    state: { dueAt: undefined },
    facts: { startedAt: () => 400_000, startOf: () => ({ containerId: 'c1', answeredAt: 99_000 }) },
    step: 'wait: its initial delay is not over at 104000',
  },
  {
    row: 'a clock of the runtime that may agree with a start by this agent, or be behind',
    types: ['readiness', 'liveness'],
    initialDelayMs: 5_000,
    state: { dueAt: undefined },
    facts: { startedAt: () => 98_400, startOf: () => ({ containerId: 'c1', answeredAt: 99_000 }) },
    step: 'wait: its initial delay is not over at 104000',
  },
  {
    row: 'a wall clock that is set back later',
    types: ['readiness', 'liveness'],
    initialDelayMs: 5_000,
    state: { dueAt: 100_000 },
    facts: { wallNow: 0 },
    step: 'probe',
  },
  {
    row: 'a container older than the agent, just after its start',
    types: ['readiness', 'liveness'],
    facts: { startedAt: () => 50_000, agentStartedAt: 99_000, heldUntil: 103_000 },
    step: 'wait: agents that start do not probe everything at once at 103000',
  },
  {
    row: 'a container younger than the agent, just after its start',
    types: ['readiness', 'liveness'],
    facts: { startedAt: () => 99_500, agentStartedAt: 99_000, heldUntil: 103_000 },
    step: 'probe',
  },
  {
    row: 'a container of this agent that seems to be older, since the clock was set',
    types: ['readiness', 'liveness'],
    facts: {
      ...{ startedAt: () => 50_000, agentStartedAt: 99_000, heldUntil: 103_000 },
      startOf: (containerId) => ({ containerId, answeredAt: 0 }),
    },
    step: 'probe',
  },
  {
    row: 'a container of an earlier agent that seems to be younger, since the clock was set',
    types: ['readiness', 'liveness'],
    facts: {
      ...{ startedAt: () => 99_500, agentStartedAt: 99_000, heldUntil: 103_000 },
      startOf: () => undefined,
    },
    step: 'wait: agents that start do not probe everything at once at 103000',
  },
  { row: 'running and started', types: ['readiness', 'liveness'], step: 'probe' },
  {
    row: 'a start that only the status has',
    types: ['readiness', 'liveness'],
    initialDelayMs: 60_000,
    state: { dueAt: undefined },
    facts: {
      startedAt: () => undefined,
      status: aProbedStatus({ state: { running: { startedAt: '1970-01-01T00:01:30Z' } } }),
    },
    step: 'wait: its initial delay is not over at 150000',
  },
];

describe('the turn of a worker that knows its instance', () => {
  it.each(table.flatMap((row) => (row.types ?? TYPES).map((type) => ({ type, ...row }))))(
    '$type, $row: $step',
    ({ type, facts, state, initialDelayMs = 0, spec, deleted, step, sets }) => {
      const pod = aProbedPod(type, undefined, { spec, ...(deleted && { deletionTimestamp: '1970-01-01T00:00:00Z' }) });
      const worker = aProbeWorker(type, { initialDelayMs }, pod);
      const turn = probeTurn(worker, { ...knows, ...state }, someFacts(facts));
      const { kind } = turn.step;
      const said = kind === 'probe' ? kind : `${kind}: ${turn.step.because}`;
      expect(kind === 'wait' && turn.step.dueAt !== undefined ? `${said} at ${turn.step.dueAt}` : said).toBe(step);
      expect(turn.effects).toEqual(sets ? [{ kind: 'set', containerId: 'c1', result: sets }] : []);
    },
  );

  it('probes the container that the status names', () => {
    const { step } = probeTurn(aProbeWorker('readiness'), knows, someFacts());
    expect(step).toEqual({ kind: 'probe', containerId: 'c1', podIp: '10.0.0.1' });
  });

  it('finds a sidecar among the init containers', () => {
    const main = aProbedStatus().containerStatuses![0]!;
    const status = { phase: 'Pending', containerStatuses: [], initContainerStatuses: [main] };
    expect(probeTurn(aProbeWorker('liveness'), knows, someFacts({ status })).step.kind).toBe('probe');
  });
});

describe('a new instance', () => {
  const only = { kind: 'only', containerId: 'c1' };
  const set = (result: string) => ({ kind: 'set', containerId: 'c1', result });
  const notStarted = { status: aProbedStatus({ started: false }) };

  it.each([
    ['startup', 'unknown', 'probe', notStarted],
    ['readiness', 'failure', 'probe', {}],
    ['liveness', 'success', 'probe', {}],
  ] as const)('for %s begins as %s', (type, result, step, facts) => {
    const turn = probeTurn(aProbeWorker(type), NEW_PROBE_WORKER, someFacts(facts));
    expect(turn.effects).toEqual([only, set(result)]);
    expect(turn.step.kind).toBe(step);
  });

  it.each(TYPES)('for %s ends a hold and what was counted', (type) => {
    const before = { ...knows, containerId: 'c0', isOnHold: true, lastResult: 'failure', runLength: 2 } as const;
    const { state } = probeTurn(aProbeWorker(type), before, someFacts(notStarted));
    expect(state).toMatchObject({ containerId: 'c1', isOnHold: false, lastResult: 'success', runLength: 0 });
  });

  it('that has started, as the API knows, needs no startup probe', () => {
    const turn = probeTurn(aProbeWorker('startup'), NEW_PROBE_WORKER, someFacts());
    expect(turn.effects).toEqual([only, set('success')]);
    expect(turn.step.kind).toBe('wait');
  });

  it.each([
    ['of an instance that ran 10 s before the agent nothing is said', 89_999, [only]],
    ['of a younger one what is taken for granted', 90_000, [only, set('failure')]],
  ] as const)('%s', (_, startedAt, effects) => {
    const facts = someFacts({ startedAt: () => startedAt, agentStartedAt: 100_000 });
    const pod = { ...aProbedPod('readiness'), status: aProbedStatus() };
    expect(probeTurn(aProbeWorker('readiness', {}, pod), NEW_PROBE_WORKER, facts).effects).toEqual(effects);
  });

  it.each([
    [
      'this agent has started begins as any other, even if its start seems to be long before',
      0,
      true,
      [only, set('failure')],
    ],
    ['an earlier agent has started is left as it is, even if its start seems to be later', 200_000, false, [only]],
    ['an earlier agent has started shortly before begins as any other', 95_000, false, [only, set('failure')]],
  ] as const)('of an instance that %s', (_, startedAt, isOwn, effects) => {
    const start = { containerId: 'c1', answeredAt: 0 };
    const facts = someFacts({
      startedAt: () => startedAt,
      agentStartedAt: 100_000,
      startOf: () => (isOwn ? start : undefined),
    });
    const pod = { ...aProbedPod('readiness'), status: aProbedStatus() };
    expect(probeTurn(aProbeWorker('readiness', {}, pod), NEW_PROBE_WORKER, facts).effects).toEqual(effects);
  });

  it('of an instance that ran before the agent, but that the API does not know, begins as any other', () => {
    const facts = someFacts({ startedAt: () => 0, agentStartedAt: 100_000 });
    const pod = { ...aProbedPod('readiness'), status: aProbedStatus({ containerID: 'fake://its-predecessor' }) };
    const { effects } = probeTurn(aProbeWorker('readiness', {}, pod), NEW_PROBE_WORKER, facts);
    expect(effects).toEqual([only, set('failure')]);
  });

  it('of which an earlier agent has left word is what that said', () => {
    const turn = probeTurn(aProbeWorker('readiness'), NEW_PROBE_WORKER, someFacts({ resultOf: () => 'success' }));
    expect(turn.effects).toEqual([only]);
    expect(turn.state.hasSucceeded).toBe(true);
  });
});
