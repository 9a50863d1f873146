import type { Pod } from '../pod/pod.js';

/** Returns the pod of these names; static pods have the name that their mirror pods have. */
export const podNamed = (pods: readonly Pod[], namespace: string, name: string): Pod | undefined =>
  pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);

/** Whether the pod has the container. Source: pkg/kubelet/container/helpers.go GetContainerSpec */
export const hasContainer = ({ spec }: Pod, container: string): boolean =>
  [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].some(
    ({ name }) => name === container,
  );

/** Returns the id of the running instance of a container, without the scheme of the runtime; undefined if none runs. */
export const runningContainerId = ({ status }: Pod, container: string): string | undefined =>
  [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ]
    .find(({ name, state }) => name === container && state?.running)
    ?.containerID?.replace(/^[^/]*:\/\//, '');
