import { catchError, concatMap, defer, from, map, type Observable, of, throwError, toArray } from 'rxjs';
import type { Container, EphemeralContainer, Pod } from '../../model/pod/pod.js';
import type { StartWait } from '../../model/pod-actions/start-wait.js';
import { ContainerSyncError } from '../../model/pod-actions/sync-error.js';
import { imagesByVolume, mountedImages, type VolumeImage } from '../../model/volumes/image-volumes.js';
import type { PresentImage } from '../images/ensure-image.js';

/**
 * Gets the images of the image volumes that a container mounts, with the rules for its own image, also those after one that failed.
 * Emits their ids by volume once, or the wait of the last one that backs off or failed.
 *
 * Errors: `ContainerSyncError` of the last image that failed, by the reason that the status of the container shows.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go getImageVolumes, toKubeContainerImageVolumes
 */
export const volumeImages = (
  pod: Pod,
  container: Container | EphemeralContainer,
  ensure: (image: VolumeImage['wanted']) => Observable<PresentImage | StartWait>,
): Observable<ReadonlyMap<string, string> | StartWait> =>
  defer(() => from(mountedImages(pod, container))).pipe(
    concatMap(({ volume, wanted }) =>
      ensure(wanted).pipe(
        catchError((error: unknown) => {
          if (error instanceof ContainerSyncError) return of(error);
          throw error;
        }),
        map((found) => ({ volume, found })),
      ),
    ),
    toArray(),
    map(imagesByVolume),
    concatMap((images) => (images instanceof ContainerSyncError ? throwError(() => images) : of(images))),
  );
