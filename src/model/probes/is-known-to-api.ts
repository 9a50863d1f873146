import type { ContainerStatus, Pod } from '../pod/pod.js';
import { allNamed } from '../values/indexed-lists.js';

/**
 * Whether the API's status of the pod names this instance of the container. If not, the container was replaced while the API server could
 * not be reached, and what the API says of readiness is about its predecessor.
 *
 * Source: pkg/kubelet/prober/prober_manager.go, since 1.38
 */
export const isKnownToApi = ({ status }: Pod, { name, containerID }: ContainerStatus): boolean =>
  [status?.containerStatuses, status?.initContainerStatuses].some((list) =>
    allNamed(list ?? [], name).some((entry) => entry.containerID === containerID),
  );
