import type { Pod } from '../pod/pod.js';
import { qosClass } from '../pod-status/qos.js';
import { childCgroup, type CgroupName } from './cgroup-name.js';

/** The QoS classes with a cgroup of their own; guaranteed pods are beside them. */
export const QOS_TIERS = ['burstable', 'besteffort'] as const;
export type QosTier = (typeof QOS_TIERS)[number];

/** The cgroup of all pods. Source: pkg/kubelet/cm/node_container_manager_linux.go defaultNodeAllocatableCgroupName. */
export const kubepodsCgroup = (root: CgroupName): CgroupName => childCgroup(root, 'kubepods');

export const tierCgroup = (root: CgroupName, tier: QosTier): CgroupName => childCgroup(kubepodsCgroup(root), tier);

/**
 * Returns the parent cgroup of a pod's containers.
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

/** Every cgroup that may contain pods directly. */
export const podParents = (root: CgroupName): readonly CgroupName[] => [
  kubepodsCgroup(root),
  ...QOS_TIERS.map((tier) => tierCgroup(root, tier)),
];

/** Returns the UID of the pod of a cgroup; undefined for any other cgroup. */
export const podUidOf = (name: CgroupName): string | undefined => /^pod(.+)$/.exec(name.at(-1) ?? '')?.[1];

/** A cgroup that was created for a pod, even if the pod is unknown by now. */
export interface FoundPodCgroup {
  readonly uid: string;
  readonly name: CgroupName;
}

/** Returns the cgroups of pods among the existing ones. Source: GetAllPodsFromCgroups. */
export const podCgroupsAmong = (names: readonly CgroupName[]): readonly FoundPodCgroup[] =>
  names.flatMap((name) => {
    const uid = podUidOf(name);
    return uid === undefined ? [] : [{ uid, name }];
  });
