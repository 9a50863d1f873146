import type { RuntimeReport } from '../node/runtime-report.js';
import { GENERIC_PLEG, type PlegCadence, plegHealth } from '../pleg/pleg.js';
import {
  aggregateText,
  foldRuntimeStatus,
  runtimeProblems,
  type RuntimeState,
  type RuntimeStatus,
  UNKNOWN_RUNTIME_STATE,
} from './runtime-state.js';

/** The facts that decide whether the runtime is healthy. */
export interface HealthFacts {
  readonly runtime: RuntimeState;
  /** The time of the request of the last successful relist, in the scheduler's milliseconds; undefined before the first. */
  readonly lastRelistAt: number | undefined;
  /** The cadence of relists, which has the greatest age of the last one. */
  readonly cadence: PlegCadence;
}

/** Neither a status nor a relist is known: the runtime counts as unhealthy. */
export const NO_HEALTH_FACTS: HealthFacts = {
  runtime: UNKNOWN_RUNTIME_STATE,
  lastRelistAt: undefined,
  cadence: GENERIC_PLEG,
};

/** Times are the scheduler's milliseconds. */
export const withRuntimeStatus = (facts: HealthFacts, status: RuntimeStatus, now: number): HealthFacts => ({
  ...facts,
  runtime: foldRuntimeStatus(facts.runtime, status, now),
});
export const withRelist = (facts: HealthFacts, at: number): HealthFacts => ({ ...facts, lastRelistAt: at });
export const withCadence = (facts: HealthFacts, cadence: PlegCadence): HealthFacts =>
  facts.cadence === cadence ? facts : { ...facts, cadence };

/**
 * The reasons why pods cannot be synced at `now`, in the scheduler's milliseconds; empty while they can.
 *
 * Source: pkg/kubelet/runtime.go runtimeErrors
 */
const problemsAt = ({ runtime, lastRelistAt, cadence }: HealthFacts, now: number): readonly string[] => {
  const pleg = plegHealth(lastRelistAt, now, cadence.thresholdMs);
  return runtimeProblems(runtime, now, pleg.healthy ? undefined : pleg.problem);
};

/** The reasons why pods cannot be synced at `now`, as one text; undefined while they can. */
export const healthProblemAt = (facts: HealthFacts, now: number): string | undefined => {
  const problems = problemsAt(facts, now);
  return problems.length === 0 ? undefined : aggregateText(problems);
};

/** The runtime in the status of the Node at `now`. Without a network the node is not ready, but pods are synced. */
export const runtimeReportAt = (facts: HealthFacts, now: number): RuntimeReport => {
  const { networkProblem, handlers, features } = facts.runtime;
  return {
    problems: [...problemsAt(facts, now), ...(networkProblem === undefined ? [] : [networkProblem])],
    ...(handlers && { handlers }),
    ...(features && { features }),
  };
};
