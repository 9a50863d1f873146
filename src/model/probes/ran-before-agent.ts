/** Milliseconds. A container that is older than the agent by more than this was started before it. */
export const RAN_BEFORE_MS = 10_000;

export interface InstanceAge {
  /** The start of the instance, in Unix milliseconds. */
  readonly startedAt: number;
  /** Unix milliseconds. */
  readonly agentStartedAt: number;
  /** Whether this agent has started the instance; undefined if that is unknown, so that the clocks decide. */
  readonly isOwn?: boolean | undefined;
}

/**
 * Whether an instance was started at least `byMs` before the agent. Clocks that were set decide nothing: an instance that this agent
 * has started did not run before, and one that it has not started did, even if its start seems to be later.
 *
 * Source: pkg/kubelet/prober/prober_manager.go, which compares times alone
 */
export const ranBeforeAgent = ({ startedAt, agentStartedAt, isOwn }: InstanceAge, byMs = RAN_BEFORE_MS): boolean => {
  if (isOwn === true) return false;
  return startedAt < agentStartedAt - byMs || (isOwn === false && startedAt > agentStartedAt);
};
