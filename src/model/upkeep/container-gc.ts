import { uidOfPodLogDirectory } from '../cri/log-paths.js';
import type { RuntimeContainerStatus, RuntimeItem, RuntimePod, RuntimePodStatus } from '../pleg/runtime-pod.js';

/** Source: cmd/kubelet/app/options/options.go. */
export interface ContainerGcPolicy {
  /** Milliseconds for which an ended container is kept. */
  readonly minAgeMs: number;
  /** Ended instances kept per pod and container name; negative keeps all. */
  readonly maxPerPodContainer: number;
  /** Ended instances kept on the node; negative keeps all. */
  readonly maxContainers: number;
}

export const DEFAULT_CONTAINER_GC: ContainerGcPolicy = { minAgeMs: 0, maxPerPodContainer: 1, maxContainers: -1 };

export interface ContainerGcInput {
  /** The runtime's containers and sandboxes. */
  readonly pods: readonly RuntimePod[];
  readonly policy: ContainerGcPolicy;
  /** The pod has ended and is not desired any more; only true once every source has delivered its pods. */
  readonly isRemovable: (uid: string) => boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

/** An ended container to remove. */
export interface DeadContainer {
  readonly uid: string;
  readonly item: RuntimeItem;
}

/**
 * Returns the ended containers to remove: all of removed pods, and all but the newest few of every other container.
 * Oldest first. An instance with a higher attempt is newer than another one, even if the clock was set back between them. A
 * container that was created in the future has an unknown age, which counts as old enough: it does not wait for the clock.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers, which compares the times of creation alone
 */
export const containersToCollect = ({ pods, policy, isRemovable, now }: ContainerGcInput): readonly DeadContainer[] => {
  const isOldEnough = ({ createdAt }: RuntimeItem): boolean =>
    createdAt < nanosOf(now - policy.minAgeMs) || createdAt > nanosOf(now);
  const doomed: DeadContainer[] = [];
  let units: (readonly DeadContainer[])[] = [];
  for (const { uid, items } of pods) {
    const dead = items
      .filter((item) => item.kind === 'container' && item.state !== 'running' && isOldEnough(item))
      .map((item) => ({ uid, item }))
      .toSorted(latestAttemptFirst);
    if (isRemovable(uid)) doomed.push(...dead);
    else units.push(...byContainer(dead));
  }
  const trim = (keep: number) => {
    units = units.map((unit) => {
      doomed.push(...unit.slice(keep));
      return unit.slice(0, keep);
    });
  };
  if (policy.maxPerPodContainer >= 0) trim(policy.maxPerPodContainer);
  const kept = () => units.reduce((sum, unit) => sum + unit.length, 0);
  if (policy.maxContainers >= 0 && kept() > policy.maxContainers) {
    trim(Math.max(1, Math.floor(policy.maxContainers / units.length)));
    if (kept() > policy.maxContainers) doomed.push(...units.flat().toSorted(newestFirst).slice(policy.maxContainers));
  }
  return doomed.toSorted((one, other) => newestFirst(other, one));
};

/**
 * Returns the ended and empty sandboxes to remove: all of removed pods, all but the last attempt of the others. Oldest first.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictSandboxes
 */
export const sandboxesToCollect = ({
  pods,
  isRemovable,
}: Pick<ContainerGcInput, 'pods' | 'isRemovable'>): readonly RuntimeItem[] =>
  pods.flatMap(({ uid, items }) => {
    const inUse = new Set(items.filter(({ kind }) => kind === 'container').map(({ sandboxId }) => sandboxId));
    const sandboxes = items.filter(({ kind }) => kind === 'sandbox').toSorted(byAttempt);
    const candidates = isRemovable(uid) ? sandboxes : sandboxes.slice(0, -1);
    return candidates.filter(({ id, state }) => state !== 'running' && !inUse.has(id));
  });

/** A directory of logs, by its name and the UID in it. */
export interface PodLogDirectory {
  readonly name: string;
  readonly uid: string;
}

/** Returns the directories of logs among `names` of which the runtime has no container or sandbox; `pods` are those of the runtime. */
export const logsWithoutPod = (
  names: readonly string[],
  pods: readonly Pick<RuntimePod, 'uid'>[],
): readonly PodLogDirectory[] => {
  const inRuntime = new Set(pods.map(({ uid }) => uid));
  return names.map((name) => ({ name, uid: uidOfPodLogDirectory(name) })).filter(({ uid }) => !inRuntime.has(uid));
};

/** The ended instances of a pod, the newest first; none of a pod without a status. */
export const exitedOf = (status: Pick<RuntimePodStatus, 'containers'> | undefined): readonly RuntimeContainerStatus[] =>
  (status?.containers ?? []).filter(({ state }) => state === 'exited');

/** The death of one container of a pod. */
export interface ContainerDeath {
  /** The status of the pod after it; undefined if it is not known. */
  readonly status: Pick<RuntimePodStatus, 'containers'> | undefined;
  readonly container: string | undefined;
  readonly policy: Pick<ContainerGcPolicy, 'maxPerPodContainer'>;
  readonly isRemovable: boolean;
}

/**
 * Returns the ended instances to remove after the death of a container: all of the pod if its content may go, else those of this container
 * except the newest ones, at least one of which is kept.
 *
 * Source: pkg/kubelet/pod_container_deletor.go getContainersToDeleteInPod
 */
export const surplusAfterDeath = ({
  status,
  container,
  policy: { maxPerPodContainer },
  isRemovable,
}: ContainerDeath): readonly RuntimeContainerStatus[] => {
  if (maxPerPodContainer < 0) return [];
  const exited = exitedOf(status);
  return isRemovable ? exited : exited.filter(({ name }) => name === container).slice(Math.max(1, maxPerPodContainer));
};

const byContainer = (dead: readonly DeadContainer[]): readonly (readonly DeadContainer[])[] => {
  const units = new Map<string, DeadContainer[]>();
  for (const container of dead) {
    const unit = units.get(container.item.name);
    if (unit) unit.push(container);
    else units.set(container.item.name, [container]);
  }
  return [...units.values()];
};

const byAge = (one: RuntimeItem, other: RuntimeItem): number =>
  one.createdAt < other.createdAt ? -1 : one.createdAt > other.createdAt ? 1 : 0;
/** Attempts count up within one pod and container; they are compared only there. */
const byAttempt = (one: RuntimeItem, other: RuntimeItem): number => one.attempt - other.attempt || byAge(one, other);
const latestAttemptFirst = (one: DeadContainer, other: DeadContainer): number => byAttempt(other.item, one.item);
const newestFirst = (one: DeadContainer, other: DeadContainer): number => byAge(other.item, one.item);

const nanosOf = (unixMs: number): bigint => BigInt(Math.floor(unixMs)) * 1_000_000n;
