import type { RuntimeFeatures, RuntimeHandler, StatusResponse } from '../generated/runtime/v1/api.js';

/** A status this old says that the runtime is down. Source: pkg/kubelet/kubelet.go maxWaitForContainerRuntime. Milliseconds. */
export const RUNTIME_DOWN_AFTER_MS = 30_000;

/** What the runtime last said of itself. Source: pkg/kubelet/runtime.go runtimeState. */
export interface RuntimeState {
  /** When it last said that it is ready; undefined until it has. */
  readonly readyAt?: number;
  /** Why it is not ready; undefined when it said that it is. */
  readonly runtimeProblem?: string;
  /** Why pods of their own network cannot start; undefined when they can. */
  readonly networkProblem?: string;
  /** What it offers, as it said when it was ready last; undefined until then. */
  readonly handlers?: readonly RuntimeHandler[];
  readonly features?: RuntimeFeatures;
}

export const UNKNOWN_RUNTIME_STATE: RuntimeState = { networkProblem: 'network state unknown' };

/**
 * The state after an answer of the runtime. One that is not ready does not count as heard of: its problem stays, and in the end
 * it counts as down as well.
 *
 * Source: pkg/kubelet/kubelet.go updateRuntimeUp.
 */
export const foldRuntimeStatus = (
  before: RuntimeState,
  { status, runtimeHandlers, features }: Pick<StatusResponse, 'status'> & Partial<StatusResponse>,
  now: number,
): RuntimeState => {
  const problemOf = (type: 'RuntimeReady' | 'NetworkReady'): string | undefined => {
    const condition = status?.conditions.find((one) => one.type === type);
    if (!condition) return '<nil>';
    if (condition.status) return undefined;
    return `${type}=false reason:${condition.reason} message:${condition.message}`;
  };
  const runtime = problemOf('RuntimeReady');
  const network = problemOf('NetworkReady');
  const isReady = runtime === undefined;
  return {
    ...before,
    ...(isReady && { readyAt: now, handlers: runtimeHandlers, features }),
    runtimeProblem: isReady ? undefined : `container runtime not ready: ${runtime}`,
    networkProblem: network === undefined ? undefined : `container runtime network not ready: ${network}`,
  };
};

/**
 * Why nothing can be synchronised, in the order of the kubelet; nothing while the runtime is well. `pleg` is what PLEG says of
 * its own health.
 *
 * Source: pkg/kubelet/runtime.go runtimeErrors.
 */
export const runtimeProblems = (
  { readyAt, runtimeProblem }: RuntimeState,
  now: number,
  pleg: string | undefined,
): readonly string[] => {
  const heard =
    readyAt === undefined
      ? 'container runtime status check may not have completed yet'
      : now - readyAt >= RUNTIME_DOWN_AFTER_MS
        ? 'container runtime is down'
        : undefined;
  const unhealthy = pleg === undefined ? undefined : `PLEG is not healthy: ${pleg}`;
  return [...new Set([heard, unhealthy, runtimeProblem].filter((problem) => problem !== undefined))];
};

/** One text for all. Source: apimachinery/pkg/util/errors/errors.go aggregate. */
export const aggregateText = (problems: readonly string[]): string =>
  problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
