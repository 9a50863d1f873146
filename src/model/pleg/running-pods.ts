import type { PodRef } from '../pod/pod.js';
import { isQuiet, runningContainersOf, type RuntimePodStatus } from './runtime-pod.js';

/** A pod of the runtime, with names and images alone. */
export interface RunningPod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
  readonly status: Readonly<Record<string, never>>;
}

/** Returns the one with this name and UID among the pods with a running container or a ready sandbox. */
export const findRunningPod = (
  statuses: readonly RuntimePodStatus[],
  { namespace, name, uid }: PodRef,
): RuntimePodStatus | undefined =>
  statuses.find(
    (status) => status.uid === uid && status.name === name && status.namespace === namespace && !isQuiet(status),
  );

/**
 * Returns the pods with a running container or a ready sandbox, each with its running containers.
 *
 * Source: pkg/kubelet/container/runtime.go ToAPIPod, pkg/kubelet/server/server.go getRunningPods
 */
export const runningPods = (statuses: readonly RuntimePodStatus[]): readonly RunningPod[] =>
  statuses
    .filter((status) => !isQuiet(status))
    .map((status) => ({
      metadata: { name: status.name, namespace: status.namespace, uid: status.uid },
      spec: { containers: runningContainersOf(status).map(({ name, image }) => ({ name, image })) },
      status: {},
    }));
