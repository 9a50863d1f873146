import { runningContainersOf, type RuntimePodStatus } from '../pleg/runtime-pod.js';
import type { Pod, PodRef } from '../pod/pod.js';

/** Returns the pod of these names; static pods have the name that their mirror pods have. */
export const podNamed = (pods: readonly Pod[], namespace: string, name: string): Pod | undefined =>
  pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);

/** Whether the pod has the container. Source: pkg/kubelet/container/helpers.go GetContainerSpec */
export const hasContainer = ({ spec }: Pod, container: string): boolean =>
  [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].some(
    ({ name }) => name === container,
  );

/** Finds the pod in the runtime, if it runs there. The UID of a mirror pod means its static pod. */
export type FindRunning = (pod: PodRef) => RuntimePodStatus | undefined;

/**
 * Returns the ID of the running instance of a container; undefined if none runs. Without a UID the pod is the one that the agent
 * wants to run.
 *
 * Source: pkg/kubelet/kubelet_pods.go findContainer
 */
export const runningContainerId = (
  findRunning: FindRunning,
  { metadata: { namespace, name, uid: wanted } }: Pod,
  { container, uid = wanted }: { readonly container: string; readonly uid?: string | undefined },
): string | undefined => {
  const running = findRunning({ namespace, name, uid });
  return running && runningContainersOf(running).find((each) => each.name === container)?.id;
};
