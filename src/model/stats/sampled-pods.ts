import type { Container, PodSandbox } from '../../generated/runtime/v1/api.js';
import { POD_UID } from '../cri/labels.js';
import type { Pod } from '../pod/pod.js';

/** A pod of the runtime with the containers that are sampled. */
export interface SampledPod {
  readonly pod: Pod;
  readonly sandbox: PodSandbox;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
  readonly containers: readonly Container[];
}

/**
 * Returns the pods whose status has a start time, each with its newest sandbox and its running containers. Only the newest of
 * containers of the same name counts.
 *
 * Source: pkg/kubelet/stats/cri_stats_provider.go removeTerminatedPods, removeTerminatedContainers,
 * pkg/kubelet/server/stats/summary.go
 */
export const sampledPods = (
  pods: readonly Pod[],
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
): readonly SampledPod[] => {
  const newest = new Map<string, PodSandbox>();
  for (const sandbox of sandboxes) {
    const uid = sandbox.metadata?.uid || sandbox.labels[POD_UID];
    if (uid === undefined || sandbox.state !== 'SANDBOX_READY') continue;
    const other = newest.get(uid);
    if (!other || isNewer(sandbox, other)) newest.set(uid, sandbox);
  }
  const bySandbox = new Map<string, Map<string, Container>>();
  for (const container of containers) {
    const name = container.metadata?.name;
    if (name === undefined || container.state !== 'CONTAINER_RUNNING') continue;
    const ofSandbox = bySandbox.get(container.podSandboxId) ?? new Map<string, Container>();
    bySandbox.set(container.podSandboxId, ofSandbox);
    const other = ofSandbox.get(name);
    if (!other || isNewer(container, other)) ofSandbox.set(name, container);
  }
  return pods.flatMap((pod) => {
    const sandbox = newest.get(pod.metadata.uid);
    const startedAtMs = Date.parse(pod.status?.startTime ?? '');
    if (!sandbox || Number.isNaN(startedAtMs)) return [];
    return [{ pod, sandbox, startedAtMs, containers: [...(bySandbox.get(sandbox.id)?.values() ?? [])] }];
  });
};

/** The higher attempt is the newer one, since the clock may have been set back between them. */
const isNewer = <T extends Pick<PodSandbox | Container, 'metadata' | 'createdAt'>>(one: T, other: T): boolean => {
  const attempts = (one.metadata?.attempt ?? 0) - (other.metadata?.attempt ?? 0);
  return attempts > 0 || (attempts === 0 && one.createdAt > other.createdAt);
};
