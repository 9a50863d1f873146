import type { Container, PodSandbox } from '../../generated/runtime/v1/api.js';
import { POD_UID } from '../cri/labels.js';
import type { Pod } from '../pod/pod.js';
import type { CgroupReading, WantedCgroup } from './readings.js';

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

/** The kind of a sample: the node alone, the resources of pods, the summary of the node, or the figures of all cgroups in full detail. */
export type SampleKind = 'node' | 'resources' | 'summary' | 'cgroups';

/**
 * Returns the cgroups to read for a sample: the root, those of the system, which may be unknown, and those of the pods, their sandboxes
 * and their containers.
 */
export const wantedCgroups = (
  pods: readonly SampledPod[],
  kind: SampleKind,
  system: readonly (string | undefined)[],
): readonly WantedCgroup[] => {
  const hasProcesses = kind !== 'resources';
  return [
    { key: '/' },
    ...[...new Set(system)].flatMap((key) =>
      key === undefined || key === '/' ? [] : [{ key, hasCreation: kind !== 'cgroups' }],
    ),
    ...pods.flatMap(({ pod, sandbox, containers }) => [
      { key: `pod${pod.metadata.uid}` },
      { key: sandbox.id, hasProcesses },
      ...containers.map(({ id }) => ({ key: id, hasProcesses })),
    ]),
  ];
};

/**
 * Whether the statistics of the runtime are needed: for a summary, and for containers without a cgroup. Cgroups suffice for the rest; a
 * runtime without cgroups, such as one with virtual machines, is asked.
 */
export const needsRuntimeFigures = (
  pods: readonly SampledPod[],
  kind: SampleKind,
  { cgroups }: Pick<CgroupReading, 'cgroups'>,
): boolean => kind === 'summary' || pods.some(({ containers }) => containers.some(({ id }) => !cgroups.has(id)));
