import { conditionsWithReadiness } from '../pod-status/conditions-with-readiness.js';
import { runtimeContainerId } from '../pod-status/container-statuses.js';
import type { ContainerStatus, Pod, PodStatus } from '../pod/pod.js';
import { isKnownToApi } from './is-known-to-api.js';
import type { ProbeResult } from './probe-worker.js';
import { ranBeforeAgent } from './ran-before-agent.js';

/** The inputs of a running container's status that come from probes. */
export interface ProbedContainer {
  readonly pod: Pod;
  /** `started` is the value before, of this instance. */
  readonly status: ContainerStatus;
  /** Whether the container has a probe of this type that runs. */
  readonly isProbed: boolean;
  readonly result: ProbeResult | undefined;
  /** Unix milliseconds. */
  readonly agentStartedAt: number;
  /** Whether this agent has started the instance; undefined if that is unknown. */
  readonly isOwn?: boolean | undefined;
}

/**
 * Whether a running container has started: once it has, it stays started while it runs.
 *
 * Source: pkg/kubelet/prober/prober_manager.go isContainerStarted
 */
export const hasStarted = ({ status, isProbed, result }: ProbedContainer): boolean => {
  if (result !== undefined) return result === 'success';
  return status.started === true || !isProbed;
};

/**
 * Whether a running and started container is ready. For a container of before the agent's start without a result yet,
 * the API's value is used, if it is of the same instance.
 *
 * Source: pkg/kubelet/prober/prober_manager.go UpdatePodStatus
 */
export const isReady = ({ pod, status, isProbed, result, agentStartedAt, isOwn }: ProbedContainer): boolean => {
  if (!isProbed) return true;
  if (result !== undefined) return result === 'success';
  const startedAt = Date.parse(status.state?.running?.startedAt ?? '');
  const ranBefore = ranBeforeAgent({ startedAt, agentStartedAt, isOwn });
  return (
    ranBefore &&
    isKnownToApi(pod, status) &&
    pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  );
};

export interface ProbedChange {
  readonly pod: Pod;
  readonly type: 'readiness' | 'startup';
  readonly containerId: string;
  readonly isSuccess: boolean;
}

/**
 * Returns the status with a new result of a probe, before the next read of the pod. Results of another instance than
 * the status shows, and of one that does not run, are ignored. `now` is in Unix milliseconds.
 *
 * Source: pkg/kubelet/status/status_manager.go SetContainerReadiness, SetContainerStartup
 */
export const withProbed = (
  status: PodStatus,
  { pod, type, containerId, isSuccess }: ProbedChange,
  now: number,
): PodStatus => {
  const change = (entry: ContainerStatus): ContainerStatus => {
    if (!entry.state?.running || runtimeContainerId(entry) !== containerId) return entry;
    if (type === 'startup') return { ...entry, started: isSuccess };
    return { ...entry, ready: isSuccess && entry.started === true };
  };
  const { initContainerStatuses, containerStatuses } = status;
  const changed: PodStatus = {
    ...status,
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(change) }),
    ...(containerStatuses && { containerStatuses: containerStatuses.map(change) }),
  };
  return { ...changed, conditions: conditionsWithReadiness(pod, changed, now) };
};
