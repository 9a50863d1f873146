import type { PodStatus } from '../pod/pod.js';

interface FoundInstance {
  /** Without the scheme of the runtime. */
  readonly containerId: string;
  /** With the scheme, as in the status: `containerd://1f2e`. */
  readonly reference: string;
}

/** The instance of a container whose log is meant, or the reason why there is none. */
export type LogInstance = FoundInstance | { readonly problem: string };

/**
 * Returns the id of the instance whose log a reader gets. Init containers, containers
 * and ephemeral containers are searched.
 *
 * Source: pkg/kubelet/kubelet_pods.go validateContainerLogStatus
 */
export const logInstance = (
  pod: string,
  status: PodStatus | undefined,
  container: string,
  previous: boolean,
): LogInstance => {
  const found = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ].find(({ name }) => name === container);
  const where = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod)}`;
  if (!found) return { problem: `${where} is not available` };
  const { state, lastState, containerID } = found;
  const last = idOf(lastState?.terminated?.containerID);
  if (previous) return last ?? { problem: `previous terminated ${where} not found` };
  const current = state?.running
    ? idOf(containerID)
    : state?.terminated
      ? (idOf(state.terminated.containerID) ?? last)
      : last;
  if (current) return current;
  if (state?.terminated) return { problem: `${where} is terminated` };
  const reason = state?.waiting?.reason;
  if (!state?.waiting) return { problem: `${where} is waiting to start - no logs yet` };
  return { problem: `${where} is waiting to start: ${WAITING[reason ?? ''] ?? reason ?? ''}` };
};

const WAITING: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

const idOf = (reference: string | undefined): FoundInstance | undefined =>
  reference ? { containerId: reference.replace(/^[^/]*:\/\//, ''), reference } : undefined;
