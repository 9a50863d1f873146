import type { RuntimeFeatures, RuntimeHandler, StatusResponse } from '../../generated/runtime/v1/api.js';

/** The runtime is down if its last ready status is this old. Source: pkg/kubelet/kubelet.go maxWaitForContainerRuntime. Milliseconds. */
export const RUNTIME_DOWN_AFTER_MS = 30_000;

/** The last status of the runtime. Source: pkg/kubelet/runtime.go runtimeState. */
export interface RuntimeState {
  /** The time of its last ready status, in the scheduler's milliseconds; undefined before the first. */
  readonly readyAt?: number;
  /** The reason why it is not ready; undefined if it is. */
  readonly runtimeProblem?: string;
  /** The reason why pods with a network of their own cannot start; undefined if they can. */
  readonly networkProblem?: string;
  /** Its handlers and features in its last ready status; undefined before the first. */
  readonly handlers?: readonly RuntimeHandler[];
  readonly features?: RuntimeFeatures;
}

/** What a status of the runtime says; older runtimes leave out their handlers and features. */
export type RuntimeStatus = Pick<StatusResponse, 'status'> & Partial<StatusResponse>;

export const UNKNOWN_RUNTIME_STATE: RuntimeState = { networkProblem: 'network state unknown' };

/**
 * The state after a status of the runtime. A status that is not ready leaves `readyAt` as it is, so in the end the runtime counts
 * as down as well.
 *
 * Source: pkg/kubelet/kubelet.go updateRuntimeUp.
 */
export const foldRuntimeStatus = (
  before: RuntimeState,
  { status, runtimeHandlers, features }: RuntimeStatus,
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
 * The reasons why pods cannot be synced, in the order of the Go kubelet; empty while they can. `pleg` is the problem of the PLEG.
 *
 * Source: pkg/kubelet/runtime.go runtimeErrors.
 */
export const runtimeProblems = (
  { readyAt, runtimeProblem }: RuntimeState,
  now: number,
  pleg: string | undefined,
): readonly string[] => {
  const ofStatus =
    readyAt === undefined
      ? 'container runtime status check may not have completed yet'
      : now - readyAt >= RUNTIME_DOWN_AFTER_MS
        ? 'container runtime is down'
        : undefined;
  const unhealthy = pleg === undefined ? undefined : `PLEG is not healthy: ${pleg}`;
  return [...new Set([ofStatus, unhealthy, runtimeProblem].filter((problem) => problem !== undefined))];
};

/** One text for all problems, each once. Source: apimachinery/pkg/util/errors/errors.go aggregate. */
export const aggregateText = (problems: readonly string[]): string => {
  const each = [...new Set(problems)];
  return each.length === 1 ? (each[0] ?? '') : `[${each.join(', ')}]`;
};
