import type { Pod } from '../pod.js';
import { qosClass } from '../pod-status/qos.js';
import { childCgroup, type CgroupName } from './cgroup-name.js';

/** QoS classes with a cgroup of their own; pods that are guaranteed lie beside them. */
export const QOS_TIERS = ['burstable', 'besteffort'] as const;
export type QosTier = (typeof QOS_TIERS)[number];

/** What holds all pods. Source: pkg/kubelet/cm/node_container_manager_linux.go defaultNodeAllocatableCgroupName. */
export const kubepodsCgroup = (root: CgroupName): CgroupName => childCgroup(root, 'kubepods');

export const tierCgroup = (root: CgroupName, tier: QosTier): CgroupName => childCgroup(kubepodsCgroup(root), tier);

/**
 * Where the containers of a pod are.
 *
 * Errors: throws on a UID that cannot be part of a name.
 * Source: pkg/kubelet/cm/pod_container_manager_linux.go GetPodContainerName.
 */
export const podCgroup = (root: CgroupName, pod: Pod): CgroupName => {
  const { uid } = pod.metadata;
  const own = `pod${uid}`;
  switch (qosClass(pod)) {
    case 'Guaranteed':
      return childCgroup(kubepodsCgroup(root), own);
    case 'Burstable':
      return childCgroup(tierCgroup(root, 'burstable'), own);
    case 'BestEffort':
      return childCgroup(tierCgroup(root, 'besteffort'), own);
  }
};

/** Every cgroup that pods may be in directly. */
export const podParents = (root: CgroupName): readonly CgroupName[] => [
  kubepodsCgroup(root),
  ...QOS_TIERS.map((tier) => tierCgroup(root, tier)),
];

/** The UID of the pod that a cgroup was made for; undefined when it is none of a pod. */
export const podUidOf = (name: CgroupName): string | undefined => /^pod(.+)$/.exec(name.at(-1) ?? '')?.[1];

/** A cgroup that was made for a pod, whether or not anybody still knows of that pod. */
export interface FoundPodCgroup {
  readonly uid: string;
  readonly name: CgroupName;
}

/** Cgroups of pods among those that were found. Source: GetAllPodsFromCgroups. */
export const podCgroupsAmong = (names: readonly CgroupName[]): readonly FoundPodCgroup[] =>
  names.flatMap((name) => {
    const uid = podUidOf(name);
    return uid === undefined ? [] : [{ uid, name }];
  });
