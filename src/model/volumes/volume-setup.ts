/** A file system that is mounted on the directory of a volume, with its mount options in order. */
export interface VolumeMount {
  readonly type: 'tmpfs' | 'hugetlbfs';
  readonly source: string;
  readonly options: readonly string[];
}

/** The group that owns a volume. Source: pkg/volume/volume_linux.go */
export interface VolumeOwnership {
  readonly fsGroup: number;
  /** The bits of a read-only volume are smaller. */
  readonly readOnly: boolean;
}

/** How the directory of a volume is set up. All paths are absolute. */
export interface VolumeSetup {
  readonly directory: string;
  /** The directory with the marker file `ready`, which exists once the setup is complete. */
  readonly markerDirectory: string;
  /** Absent for a plain directory. */
  readonly mount?: VolumeMount;
  readonly ownership?: VolumeOwnership;
  /** The paths inside of the volume at which containers mount other volumes, relative to `directory`. No file of the volume takes them. */
  readonly nested?: readonly string[];
}

/**
 * A file or directory inside of a volume that a container mounts instead of the whole volume. All paths but `subPath`
 * are absolute.
 */
export interface SubPathSetup {
  readonly volumeDirectory: string;
  /** Relative to `volumeDirectory`, without `..`. A missing one is made as a directory. */
  readonly subPath: string;
  /** The bind mount that the container gets: `<pod>/volume-subpaths/<volume>/<container>/<index>`. */
  readonly target: string;
  /** Mounts that the container makes inside of it reach the volume. All others stay out of it, and so do unmounts. */
  readonly givesBack?: boolean;
}

/** The place of a mount inside of a directory that the container gets read-only. The runtime could not make it there. */
export interface MountPointSetup {
  /** Absolute. */
  readonly directory: string;
  /** Relative to `directory`, without `..`. */
  readonly path: string;
  /** The mounted path, absolute: the mount point is a file for a file, a directory otherwise. Absent for an image. */
  readonly source?: string;
}
