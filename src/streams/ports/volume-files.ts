import type { Observable } from 'rxjs';
import type { MountPointSetup, SubPathSetup, VolumeOwnership, VolumeSetup } from '../../model/volumes/volume-setup.js';
import type { VolumePayload } from '../../model/volumes/volume-payload.js';

/** A volume that exists on the disk, whichever life of the agent has set it up. */
export interface FoundVolume {
  /** The unescaped name of its plugin, such as `kubernetes.io/secret`; undefined where only a sub-path is left. */
  readonly plugin?: string;
  readonly name: string;
}

/**
 * The files and mounts of volumes on this machine. Every call is cold, completes when it is done, and may be repeated: a call that
 * was interrupted by the end of the process is completed by the same call of the next process.
 *
 * Errors: Node's own, or an Error that names the path and what was expected of it.
 */
export interface VolumeFiles {
  /**
   * Makes the directory of a volume, with mode 0777, its mount and its marker. Existing parts stay. Emits `there` if an
   * earlier call, maybe of an earlier process, has made all of them.
   */
  readonly setUp: (setup: VolumeSetup) => Observable<'made' | 'there'>;
  /**
   * Replaces the files of a volume in one step; a reader sees the files of before or of now, never a mixture. Nothing but a mount
   * point is left in the place of a file. Emits whether anything has changed. Source: pkg/volume/util/atomic_writer.go
   */
  readonly write: (
    directory: string,
    payload: VolumePayload,
    ownership?: VolumeOwnership,
    mountPoints?: readonly string[],
  ) => Observable<'changed' | 'unchanged'>;
  /**
   * Emits once the content of a regular file of a volume. Symbolic links are followed as long as they stay in the volume.
   *
   * Errors: no such file; a path that leads out of the volume; a pipe, a device or a directory, which is not opened; more than `maxBytes`.
   */
  readonly read: (directory: string, path: string, maxBytes: number) => Observable<Uint8Array>;
  /** Checks, and makes where the type says so, a path of the machine. Source: pkg/volume/hostpath/host_path.go */
  readonly checkHostPath: (path: string, type: string) => Observable<never>;
  /**
   * Opens a sub-path component by component, so that no symbolic link leads out of the volume, and binds it to the target.
   * Completes at once where the same file is bound already. Source: pkg/volume/util/subpath/subpath_linux.go
   */
  readonly bindSubPath: (setup: SubPathSetup) => Observable<never>;
  /**
   * Makes a missing mount point, without following a link. Completes without one where a link or a file is on the way: the runtime
   * knows where it leads in the container. Source: pkg/volume/util/nested_volumes.go
   */
  readonly makeMountPoint: (setup: MountPointSetup) => Observable<never>;
  /** Unmounts every sub-path below `<pod>/volume-subpaths/<volume>` and removes their directories; a missing one is fine. */
  readonly unbindSubPaths: (directory: string) => Observable<never>;
  /** Unmounts the volume, removes its marker and its directory, never across a mount point; a missing one is fine. */
  readonly tearDown: (setup: Pick<VolumeSetup, 'directory' | 'markerDirectory'>) => Observable<never>;
  /** Emits once the volumes of a pod, by `volumes/<plugin>/<volume>` and `volume-subpaths/<volume>`; none without the directory. */
  readonly found: (podDirectory: string) => Observable<readonly FoundVolume[]>;
}
