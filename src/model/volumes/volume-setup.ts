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
  /** Directories inside of the volume on which containers mount other volumes, relative to `directory`. */
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
}
