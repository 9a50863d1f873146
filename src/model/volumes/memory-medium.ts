import { podCgroupResources } from '../cgroups/pod-cgroup-resources.js';
import type { Pod } from '../pod/pod.js';
import { quantity, unitValue } from '../resources/quantity.js';
import type { VolumeMount } from './volume-setup.js';

/** The facts of a node on which the file system of a volume depends. */
export interface MediumFacts {
  readonly allocatable: Readonly<Record<string, string>>;
  /** The kernel can keep a tmpfs out of the swap. */
  readonly hasTmpfsNoswap: boolean;
}

/**
 * Returns the tmpfs of a volume in memory. Its size is the smallest positive of the memory that the node has for pods,
 * the memory limit of the pod, and the limit of the volume.
 *
 * Source: pkg/volume/emptydir/empty_dir.go calculateEmptyDirMemorySize, generateTmpfsMountOptions
 */
export const memoryMount = (
  pod: Pod,
  sizeLimit: string | undefined,
  { allocatable, hasTmpfsNoswap }: MediumFacts,
): VolumeMount => {
  const bytes = [
    bytesOf(allocatable.memory),
    podCgroupResources(pod, MEMORY_ONLY).memory ?? 0n,
    bytesOf(sizeLimit),
  ].filter((size) => size > 0n);
  const smallest = bytes.reduce<bigint | undefined>(
    (least, size) => (least === undefined || size < least ? size : least),
    undefined,
  );
  return {
    type: 'tmpfs',
    source: 'tmpfs',
    options: [...(smallest === undefined ? [] : [`size=${smallest}`]), ...(hasTmpfsNoswap ? ['noswap'] : [])],
  };
};

const MEMORY_ONLY = { podPidsLimit: -1, cpuCfsQuota: false, cpuCfsQuotaPeriodMicros: 100_000 };

const bytesOf = (text: string | undefined): bigint => (text === undefined ? 0n : unitValue(quantity(text)));

/** Whether a kernel has the option `noswap` of tmpfs. Source: pkg/kubelet/util/swap/swap_util.go */
export const hasTmpfsNoswap = (kernelVersion: string): boolean => {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(kernelVersion) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 4);
};
