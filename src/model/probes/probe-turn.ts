import { type ContainerStatus, isTerminalPhase, type PodStatus } from '../pod/pod.js';
import { isRestartingAll } from '../pod-actions/restart-all.js';
import { restartable } from '../pod-actions/restart-policy.js';
import type { InstanceStart } from '../pod-actions/instance-starts.js';
import { isKnownToApi } from './is-known-to-api.js';
import { runtimeContainerId } from '../pod-status/container-statuses.js';
import type { ProbeResult, ProbeType, ProbeWorker } from './probe-worker.js';
import { type InstanceAge, ranBeforeAgent } from './ran-before-agent.js';
import { firstNamed } from '../values/indexed-lists.js';

/** The state of a worker between two turns. */
export interface ProbeWorkerState {
  /** The instance that the worker probes. */
  readonly containerId?: string;
  /** The worker has finished with this instance. */
  readonly isOnHold: boolean;
  readonly lastResult: 'success' | 'failure';
  /** The number of equal outcomes in a row. */
  readonly runLength: number;
  /** The end of this instance's initial delay, in the scheduler's milliseconds; absent before the instance runs. */
  readonly dueAt?: number;
  /** A success of this instance was reported. */
  readonly hasSucceeded: boolean;
}

export const NEW_PROBE_WORKER: ProbeWorkerState = {
  isOnHold: false,
  lastResult: 'success',
  runLength: 0,
  hasSucceeded: false,
};

export interface ProbeTurnFacts {
  /** The newest status of the pod from this agent. */
  readonly status: PodStatus | undefined;
  /** The start time of an instance from the runtime, in Unix milliseconds, if known. */
  readonly startedAt: (containerId: string) => number | undefined;
  /** The start of an instance by this agent; undefined for one of an earlier agent. */
  readonly startOf?: (containerId: string) => InstanceStart | undefined;
  /** The earlier result of an instance. */
  readonly resultOf: (containerId: string) => ProbeResult | undefined;
  /** The scheduler's milliseconds. */
  readonly now: number;
  /** Unix milliseconds. */
  readonly wallNow: number;
  /** Unix milliseconds. */
  readonly agentStartedAt: number;
  /** Containers of before the agent's start are not probed before this time; the scheduler's milliseconds. */
  readonly heldUntil: number;
}

/** A change of the results of instances. */
export type ResultEffect =
  /** The results of all other instances of the container are removed. */
  | { readonly kind: 'only'; readonly containerId: string }
  | { readonly kind: 'set'; readonly containerId: string; readonly result: ProbeResult };

export type ProbeStep =
  | { readonly kind: 'probe'; readonly containerId: string; readonly podIp: string }
  /** Nothing to do now. `dueAt` is the time of the next turn, if known; the scheduler's milliseconds. */
  | { readonly kind: 'wait'; readonly because: string; readonly dueAt?: number }
  /** Nothing left to do for this worker. */
  | { readonly kind: 'leave'; readonly because: string };

export interface ProbeTurn {
  readonly state: ProbeWorkerState;
  readonly effects: readonly ResultEffect[];
  readonly step: ProbeStep;
}

/**
 * Decides the action of a probe's worker for its turn; the first matching row decides. docs/probes.md has the table.
 *
 * Source: pkg/kubelet/prober/worker.go doProbe
 */
export const probeTurn = (worker: ProbeWorker, before: ProbeWorkerState, facts: ProbeTurnFacts): ProbeTurn => {
  const { type, pod, container } = worker;
  const { status } = facts;
  const say = (step: ProbeStep, state = before, effects: readonly ResultEffect[] = []): ProbeTurn => ({
    state,
    effects,
    step,
  });
  const wait = (because: string, dueAt?: number): ProbeStep => ({
    kind: 'wait',
    because,
    ...(dueAt !== undefined && { dueAt }),
  });
  const leave = (because: string): ProbeStep => ({ kind: 'leave', because });

  if (!status) return say(wait('the pod has no status yet'));
  if (isTerminalPhase(status.phase)) return say(leave('the pod has ended'));
  const found = statusOf(status, container.name);
  if (!found) return say(wait('the container has not been created'));
  const containerId = runtimeContainerId(found);
  const startedAt = found.state?.running ? startOf(found, facts.startedAt(containerId)) : undefined;

  const isNew = containerId !== before.containerId;
  const effects: ResultEffect[] = isNew ? seed(worker, found, startedAt, facts) : [];
  const known: ProbeWorkerState = isNew
    ? { ...NEW_PROBE_WORKER, containerId, hasSucceeded: facts.resultOf(containerId) === 'success' }
    : before;
  if (known.isOnHold) return say(wait('its last word on this instance is said'), known, effects);

  if (startedAt === undefined) {
    const { terminated } = found.state ?? {};
    // A created container that is not started yet has not failed: a failure would kill it as soon as it runs. It is not
    // ready.
    if (terminated || type === 'readiness') effects.push({ kind: 'set', containerId, result: 'failure' });
    const willRun = !terminated || restartable(pod, container, terminated) || isRestartingAll(pod, undefined, status);
    return say(
      willRun ? wait('the container does not run') : leave('the container does not run again'),
      known,
      effects,
    );
  }
  if (pod.metadata.deletionTimestamp !== undefined && type !== 'readiness') {
    return say(leave('the pod is being deleted'), known, [...effects, { kind: 'set', containerId, result: 'success' }]);
  }

  // Measured once, so that a later jump of the wall clock changes nothing.
  const dueAt = known.dueAt ?? facts.now + delayLeft(worker, ageOf(startedAt, facts, facts.startOf?.(containerId)));
  const state = { ...known, dueAt };
  if (type === 'startup' && found.started) return say(wait('the container has started'), state, effects);
  if (type !== 'startup' && !found.started) return say(wait('the container has not started'), state, effects);
  if (facts.now < dueAt) return say(wait('its initial delay is not over', dueAt), state, effects);
  if (facts.now < facts.heldUntil && ranBeforeAgent(instanceAge(startedAt, containerId, facts), 0)) {
    return say(wait('agents that start do not probe everything at once', facts.heldUntil), state, effects);
  }
  return say({ kind: 'probe', containerId, podIp: status.podIP ?? '' }, state, effects);
};

/** The result of an instance before its first probe. */
const INITIAL_RESULT: Readonly<Record<ProbeType, ProbeResult>> = {
  readiness: 'failure',
  liveness: 'success',
  startup: 'unknown',
};

const seed = (
  { type, pod }: ProbeWorker,
  found: ContainerStatus,
  startedAt: number | undefined,
  facts: ProbeTurnFacts,
): ResultEffect[] => {
  const containerId = runtimeContainerId(found);
  const only: ResultEffect = { kind: 'only', containerId };
  // An earlier agent recorded a result.
  if (facts.resultOf(containerId) !== undefined) return [only];
  if (type === 'startup' && startedAt !== undefined && found.started) {
    return [only, { kind: 'set', containerId, result: 'success' }];
  }
  // A container of before the agent's start has no result before its first probe: one that is ready in the API stays ready.
  const ranBefore = startedAt !== undefined && ranBeforeAgent(instanceAge(startedAt, containerId, facts));
  if (ranBefore && isKnownToApi(pod, found)) return [only];
  return [only, { kind: 'set', containerId, result: INITIAL_RESULT[type] }];
};

const instanceAge = (
  startedAt: number,
  containerId: string,
  { agentStartedAt, startOf: ownStart }: ProbeTurnFacts,
): InstanceAge => ({ startedAt, agentStartedAt, isOwn: ownStart && ownStart(containerId) !== undefined });

/** Finds a regular or init container; a container without an id was never created. */
const statusOf = (status: PodStatus, name: string): ContainerStatus | undefined =>
  [status.containerStatuses, status.initContainerStatuses]
    .map((list) => firstNamed(list ?? [], name))
    .find((entry) => entry?.containerID);

/** Statuses have whole seconds; the runtime's time is more exact. */
const startOf = (found: ContainerStatus, exact: number | undefined): number =>
  exact ?? (Date.parse(found.state?.running?.startedAt ?? '') || 0);

/** A clock that was set back does not make the delay longer. Milliseconds. */
const delayLeft = ({ pace: { initialDelayMs } }: ProbeWorker, ageMs: number): number =>
  Math.min(Math.max(initialDelayMs - ageMs, 0), initialDelayMs);

/**
 * The time for which the instance runs, in milliseconds. An instance that this agent has started is as old as the runtime's
 * answer to its start, which no clock makes older; any other instance is as old as the clocks say. Upstream uses the clocks alone.
 */
const ageOf = (
  startedAt: number,
  { now, wallNow }: Pick<ProbeTurnFacts, 'now' | 'wallNow'>,
  start: InstanceStart | undefined,
): number => (start ? now - (start.answeredAt ?? now) : wallNow - startedAt);
