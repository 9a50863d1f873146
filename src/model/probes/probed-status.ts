import { conditionsWithReadiness } from '../pod-status/conditions-with-readiness.js';
import { runtimeContainerId } from '../pod-status/container-statuses.js';
import type { ContainerStatus, Pod, PodStatus } from '../pod.js';
import { RAN_BEFORE_MS } from './probe-turn.js';
import type { ProbeResult } from './probe-worker.js';

/** What the status of a running container depends on, as far as probes have a say in it. */
export interface ProbedContainer {
  readonly pod: Pod;
  /** `started` is what was said of this instance before. */
  readonly status: ContainerStatus;
  /** It has a probe of the type in question, and somebody probes. */
  readonly isProbed: boolean;
  readonly result: ProbeResult | undefined;
  /** Unix milliseconds. */
  readonly agentStartedAt: number;
}

/**
 * Whether a running container has started: once it has, it stays started for as long as it runs.
 *
 * Source: pkg/kubelet/prober/prober_manager.go isContainerStarted
 */
export const hasStarted = ({ status, isProbed, result }: ProbedContainer): boolean => {
  if (result !== undefined) return result === 'success';
  return status.started === true || !isProbed;
};

/**
 * Whether a running container that has started is ready. Of one that ran before the agent, and of which nothing is known yet,
 * the API has the last word.
 *
 * Source: pkg/kubelet/prober/prober_manager.go UpdatePodStatus
 */
export const isReady = ({ pod, status, isProbed, result, agentStartedAt }: ProbedContainer): boolean => {
  if (!isProbed) return true;
  if (result !== undefined) return result === 'success';
  const startedAt = Date.parse(status.state?.running?.startedAt ?? '');
  const ranBefore = startedAt < agentStartedAt - RAN_BEFORE_MS;
  return ranBefore && pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
};

export interface ProbedChange {
  readonly pod: Pod;
  readonly type: 'readiness' | 'startup';
  readonly containerId: string;
  readonly isSuccess: boolean;
}

/**
 * The status with what a probe has just found out, before anybody looks at the pod again. Of another instance than the one that
 * the status shows, and of one that does not run, nothing is said. `now` is in Unix milliseconds.
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
