import type { RuntimeContainerStatus, RuntimePodStatus } from '../pleg/runtime-pod.js';
import type { PodStatus } from '../pod/pod.js';
import { runtimeContainerId } from '../pod-status/container-statuses.js';

/**
 * Returns the runtime's view in which regular containers have ended as the last status of the pod shows, where the runtime has lost the
 * record of that end: after a loss of power it shows such an instance as created, in an unknown state, or ended for an unknown reason. An
 * end counts only for the instance that it names; one that could not be located names none. Upstream believes the runtime.
 */
export const withShownEnds = (status: RuntimePodStatus, last: PodStatus | undefined): RuntimePodStatus => {
  const ends = new Map(
    (last?.containerStatuses ?? []).flatMap((entry) => {
      const { terminated } = entry.state ?? {};
      const isNamed = terminated?.containerID !== undefined && terminated.containerID === entry.containerID;
      return isNamed ? [[runtimeContainerId(entry), terminated] as const] : [];
    }),
  );
  if (ends.size === 0) return status;
  return {
    ...status,
    containers: status.containers.map((instance) => {
      const end = ends.get(instance.id);
      if (!end || !hasLostEnd(instance)) return instance;
      return {
        ...{ ...instance, state: 'exited', exitCode: end.exitCode },
        ...{ reason: end.reason ?? '', message: end.message ?? '' },
        ...{ startedAt: nanosAt(end.startedAt), finishedAt: nanosAt(end.finishedAt) },
      };
    }),
  };
};

/**
 * Whether the runtime may have shown another end before. A container that is not there when the runtime starts gets the end of the last.
 *
 * Source of the last: containerd internal/cri/server/restart.go, unknownExitCode
 */
const hasLostEnd = ({ state, exitCode, reason }: RuntimeContainerStatus): boolean =>
  state === 'created' || state === 'unknown' || (state === 'exited' && exitCode === 255 && reason === 'Unknown');

/** 0 for a time that the status does not have. */
const nanosAt = (time: string | undefined): bigint => BigInt(Date.parse(time ?? '') || 0) * 1_000_000n;
