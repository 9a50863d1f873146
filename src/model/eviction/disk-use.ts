import type { DiskUse, PodFigures } from './figures.js';
import type { DiskLayout, EvictionSignal } from './signals.js';

/** The parts of a pod's usage of disks. */
export type DiskPart = 'rootfs' | 'logs' | 'volumes';

/**
 * Returns the parts of a pod that are on the file system of a signal. Layers of images belong to no pod.
 *
 * Source: pkg/kubelet/eviction/helpers.go buildSignalToRankFunc
 */
export const partsOn = (signal: EvictionSignal, layout: DiskLayout): readonly DiskPart[] => {
  if (layout === 'single') return ['rootfs', 'logs', 'volumes'];
  if (layout === 'dedicated-images') return signal.startsWith('nodefs.') ? ['logs', 'volumes'] : ['rootfs'];
  return signal.startsWith('imagefs.') ? [] : ['logs', 'volumes', 'rootfs'];
};

/** Returns the sum of these parts, in bytes or inodes. Unknown figures count as 0. */
export const diskUseOf = (
  { containers, volumes, hostsFile }: PodFigures,
  parts: readonly DiskPart[],
  unit: keyof DiskUse,
): number => {
  const uses: readonly (DiskUse | undefined)[] = [
    ...(parts.includes('rootfs') ? containers.map(({ rootfs }) => rootfs) : []),
    ...(parts.includes('logs') ? containers.map(({ logs }) => logs) : []),
    ...(parts.includes('volumes') ? [...volumes.filter(({ isEphemeral }) => isEphemeral), hostsFile] : []),
  ];
  return uses.reduce((sum, use) => sum + (use?.[unit] ?? 0), 0);
};
