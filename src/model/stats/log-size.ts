import { type Pod, podRef, type PodRef } from '../pod/pod.js';

/** A container that runs, by the status of its pod. */
export interface RunningContainer {
  readonly pod: PodRef;
  readonly container: string;
}

/** The size of all logs of a container that runs. */
export interface LogSize extends RunningContainer {
  readonly usedBytes: number;
}

export const runningContainers = (pods: readonly Pod[]): readonly RunningContainer[] =>
  pods.flatMap((pod) =>
    [
      ...(pod.status?.initContainerStatuses ?? []),
      ...(pod.status?.containerStatuses ?? []),
      ...(pod.status?.ephemeralContainerStatuses ?? []),
    ]
      .filter(({ state }) => state?.running !== undefined)
      .map(({ name }) => ({ pod: podRef(pod), container: name })),
  );
