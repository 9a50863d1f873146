import { catchError, concat, concatMap, defer, EMPTY, ignoreElements, type Observable, of, throwError } from 'rxjs';
import type { Volume } from '../../model/manifest/volume-defaults.js';
import type { Pod } from '../../model/pod/pod.js';
import { requireHostPath } from '../../model/volumes/host-path.js';
import { setUpPrint } from '../../model/volumes/set-up-print.js';
import type { SettledVolumes } from '../../model/volumes/settled-volumes.js';
import { markerDirectory, volumeDirectory, volumeSubPathsDirectory } from '../../model/volumes/volume-paths.js';
import { volumePluginOf } from '../../model/volumes/volume-plugin.js';
import type { VolumePayload } from '../../model/volumes/volume-payload.js';
import { type VolumeFacts, volumeSetup } from '../../model/volumes/volume-setup-of.js';
import type { VolumeFiles } from '../ports/volume-files.js';

export interface VolumeOperationsPorts {
  readonly volumeFiles: VolumeFiles;
  readonly node: () => VolumeFacts;
  /** The files of a volume; undefined where the agent writes none. */
  readonly content: (pod: Pod, volume: Volume) => Observable<VolumePayload | undefined>;
  readonly settled: SettledVolumes;
  /** Milliseconds. */
  readonly now: () => number;
}

export interface VolumeOperations {
  /**
   * Sets a volume up, or brings its files up to date. If the files cannot be written, a volume that was made for them is taken down
   * again; one that was there before, maybe of an earlier agent, stays: containers may use it. Emits `unchanged`, and leaves the disk
   * alone, if the volume has been set up with the same content and compared with the disk not long ago.
   *
   * Errors: the content is not known, or the disk refuses.
   */
  readonly setUp: (pod: Pod, volume: Volume) => Observable<'unchanged'>;
  /** Unmounts the sub-paths of a volume, then the volume itself. Errors: the disk refuses. */
  readonly tearDown: (pod: Pod, volume: Volume) => Observable<never>;
}

/** The operations on one volume. Source: `SetUpAt` and `TearDownAt` of the plugins below pkg/volume */
export const volumeOperations = ({
  volumeFiles,
  node,
  content,
  settled,
  now,
}: VolumeOperationsPorts): VolumeOperations => {
  const tearDown = (pod: Pod, volume: Volume): Observable<never> =>
    defer(() => {
      const { rootDirectory } = node();
      const { uid } = pod.metadata;
      const plugin = volumePluginOf(volume);
      settled.forget(uid, volume.name);
      const subPaths$ = volumeFiles.unbindSubPaths(volumeSubPathsDirectory(rootDirectory, uid, volume.name));
      if (!plugin?.hasDirectory) return subPaths$;
      return concat(
        subPaths$,
        volumeFiles.tearDown({
          directory: volumeDirectory(rootDirectory, uid, plugin.name, volume.name),
          markerDirectory: markerDirectory(rootDirectory, uid, plugin.name, volume.name),
        }),
      );
    });

  const setUp = (pod: Pod, volume: Volume): Observable<'unchanged'> =>
    defer(() => {
      const { hostPath } = volume;
      if (hostPath) {
        requireHostPath(hostPath.path);
        return volumeFiles.checkHostPath(hostPath.path, hostPath.type ?? '');
      }
      const setup = volumeSetup(pod, volume, node());
      if (!setup) return EMPTY;
      // The content comes first: a volume whose object is missing leaves no mount behind.
      return content(pod, volume).pipe(
        concatMap((payload) => {
          if (!payload) return volumeFiles.setUp(setup).pipe(ignoreElements());
          const { uid } = pod.metadata;
          const print = setUpPrint(setup, payload);
          if (settled.isUnchanged(uid, volume.name, print, now())) return of('unchanged' as const);
          settled.forget(uid, volume.name);
          const write$ = volumeFiles.setUp(setup).pipe(
            concatMap((found) =>
              volumeFiles.write(setup.directory, payload, setup.ownership, setup.nested).pipe(
                catchError((error: unknown) => {
                  const fail$ = throwError(() => error);
                  return found === 'made' ? concat(tearDown(pod, volume).pipe(catchError(() => EMPTY)), fail$) : fail$;
                }),
              ),
            ),
            ignoreElements(),
          );
          const settle$ = defer(() => {
            settled.settle(uid, volume.name, { print, at: now() });
            return EMPTY;
          });
          return concat(write$, settle$);
        }),
      );
    });

  return { setUp, tearDown };
};
