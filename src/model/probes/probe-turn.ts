import { type ContainerStatus, isTerminalPhase, type PodStatus } from '../pod.js';
import { restartable } from '../restart-policy.js';
import { runtimeContainerId } from '../pod-status/container-statuses.js';
import type { ProbeResult, ProbeType, ProbeWorker } from './probe-worker.js';

/** Milliseconds. A container that is older than the agent by more than this ran before it. */
export const RAN_BEFORE_MS = 10_000;

/** What a worker remembers from one turn to the next. */
export interface ProbeWorkerState {
  /** The instance that it knows. */
  readonly containerId?: string;
  /** It has said its last word on this instance. */
  readonly isOnHold: boolean;
  readonly lastResult: 'success' | 'failure';
  /** How often in a row. */
  readonly runLength: number;
  /** When the initial delay of this instance is over, in the scheduler's milliseconds; absent before the instance runs. */
  readonly dueAt?: number;
  /** Success was said of this instance. */
  readonly hasSucceeded: boolean;
}

export const NEW_PROBE_WORKER: ProbeWorkerState = {
  isOnHold: false,
  lastResult: 'success',
  runLength: 0,
  hasSucceeded: false,
};

export interface ProbeTurnFacts {
  /** The newest status of the pod that this agent made. */
  readonly status: PodStatus | undefined;
  /** When an instance started, in Unix milliseconds, where the runtime has told. */
  readonly startedAt: (containerId: string) => number | undefined;
  /** What is known of an instance already. */
  readonly resultOf: (containerId: string) => ProbeResult | undefined;
  /** The scheduler's milliseconds. */
  readonly now: number;
  /** Unix milliseconds. */
  readonly wallNow: number;
  /** Unix milliseconds. */
  readonly agentStartedAt: number;
  /** Containers that ran before the agent are not probed earlier than this; the scheduler's milliseconds. */
  readonly heldUntil: number;
}

/** A change of what is known of instances. */
export type ResultEffect =
  /** Nothing is known any more of any instance of the container but this one. */
  | { readonly kind: 'only'; readonly containerId: string }
  | { readonly kind: 'set'; readonly containerId: string; readonly result: ProbeResult };

export type ProbeStep =
  | { readonly kind: 'probe'; readonly containerId: string; readonly podIp: string }
  /** Nothing to do now. `dueAt` is when there will be, where that is known; the scheduler's milliseconds. */
  | { readonly kind: 'wait'; readonly because: string; readonly dueAt?: number }
  /** Nothing to do ever again. */
  | { readonly kind: 'leave'; readonly because: string };

export interface ProbeTurn {
  readonly state: ProbeWorkerState;
  readonly effects: readonly ResultEffect[];
  readonly step: ProbeStep;
}

/**
 * What a probe's worker does when its turn comes; the first row that holds decides. docs/probes.md has the table.
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
    // What has been made and is still to be started has not failed: it would be killed for that as soon as it runs. It is not ready.
    if (terminated || type === 'readiness') effects.push({ kind: 'set', containerId, result: 'failure' });
    const willRun = !terminated || restartable(pod, container, terminated);
    return say(
      willRun ? wait('the container does not run') : leave('the container does not run again'),
      known,
      effects,
    );
  }
  if (pod.metadata.deletionTimestamp !== undefined && type !== 'readiness') {
    return say(leave('the pod is being deleted'), known, [...effects, { kind: 'set', containerId, result: 'success' }]);
  }

  // Measured once, so that a wall clock that jumps later changes nothing.
  const dueAt = known.dueAt ?? facts.now + delayLeft(worker, startedAt, facts.wallNow);
  const state = { ...known, dueAt };
  if (type === 'startup' && found.started) return say(wait('the container has started'), state, effects);
  if (type !== 'startup' && !found.started) return say(wait('the container has not started'), state, effects);
  if (facts.now < dueAt) return say(wait('its initial delay is not over', dueAt), state, effects);
  if (facts.now < facts.heldUntil && startedAt < facts.agentStartedAt) {
    return say(wait('agents that start do not probe everything at once', facts.heldUntil), state, effects);
  }
  return say({ kind: 'probe', containerId, podIp: status.podIP ?? '' }, state, effects);
};

/** What is taken for granted of an instance that nobody has probed. */
export const INITIAL_RESULT: Readonly<Record<ProbeType, ProbeResult>> = {
  readiness: 'failure',
  liveness: 'success',
  startup: 'unknown',
};

const seed = (
  { type }: ProbeWorker,
  found: ContainerStatus,
  startedAt: number | undefined,
  { agentStartedAt, resultOf }: ProbeTurnFacts,
): ResultEffect[] => {
  const containerId = runtimeContainerId(found);
  const only: ResultEffect = { kind: 'only', containerId };
  // An earlier agent has left word of it.
  if (resultOf(containerId) !== undefined) return [only];
  if (type === 'startup' && startedAt !== undefined && found.started) {
    return [only, { kind: 'set', containerId, result: 'success' }];
  }
  // Of what ran before the agent, nothing is said before it is known: what is ready stays ready.
  if (startedAt !== undefined && startedAt < agentStartedAt - RAN_BEFORE_MS) return [only];
  return [only, { kind: 'set', containerId, result: INITIAL_RESULT[type] }];
};

/** A regular container, or an init container; one without an id was never created. */
const statusOf = (status: PodStatus, name: string): ContainerStatus | undefined =>
  [status.containerStatuses, status.initContainerStatuses]
    .map((list) => list?.find((entry) => entry.name === name))
    .find((entry) => entry?.containerID);

/** Statuses have whole seconds only; the runtime knows better. */
const startOf = (found: ContainerStatus, exact: number | undefined): number =>
  exact ?? (Date.parse(found.state?.running?.startedAt ?? '') || 0);

/** A clock that was set back does not make the delay longer than it is. */
const delayLeft = ({ pace: { initialDelayMs } }: ProbeWorker, startedAt: number, wallNow: number): number =>
  Math.min(Math.max(startedAt + initialDelayMs - wallNow, 0), initialDelayMs);
