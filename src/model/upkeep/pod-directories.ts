// The directory of a pod that is over goes only if it holds nothing but data of the agent: a mount or a volume may hold data of other
// owners. Source: pkg/kubelet/kubelet_volumes.go removeOrphanedPodVolumeDirs

/** Returns the reason why a directory with these mount points stays; undefined without any. */
export const mountedReason = ([mount]: readonly string[]): string | undefined =>
  mount === undefined ? undefined : `something is mounted at ${mount}`;

/** Returns the reason why a directory with these volumes of one plugin stays; undefined without any. */
export const volumesReason = (plugin: string, [volume]: readonly string[]): string | undefined =>
  volume === undefined ? undefined : `it still has volumes: ${plugin}/${volume}`;

/** The end of a clean-up of one directory. */
export type DirectoryEnd = 'removed' | 'stays';

/** Pods that are over and had a directory. Source: pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs */
export interface OrphanCount {
  /** All of them, as upstream counts: also those whose directory stays. */
  readonly pods: number;
  /** The pods whose directory stays: it has a mount or volumes, or its removal failed. */
  readonly failed: number;
}

export const countOrphans = (ends: readonly DirectoryEnd[]): OrphanCount => ({
  pods: ends.length,
  failed: ends.filter((end) => end === 'stays').length,
});
