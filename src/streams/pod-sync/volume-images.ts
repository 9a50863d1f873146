import { catchError, concatMap, defer, from, map, type Observable, of, reduce, throwError } from 'rxjs';
import type { Container, EphemeralContainer, Pod } from '../../model/pod/pod.js';
import { isStartWait, type StartWait } from '../../model/pod-actions/start-wait.js';
import { ContainerSyncError } from '../../model/pod-actions/sync-error.js';
import type { PresentImage } from '../images/ensure-image.js';

type VolumeImages = ReadonlyMap<string, string>;
type WantedImage = Pick<Container, 'name' | 'image' | 'imagePullPolicy'>;

/**
 * Gets the images of the image volumes that a container mounts, with the rules for its own image, also those after one that failed.
 * Emits their ids by volume once, or the wait of the last one that backs off or failed.
 *
 * Errors: `ContainerSyncError` of the last image that failed, by the reason that the status of the container shows.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go getImageVolumes, toKubeContainerImageVolumes
 */
export const volumeImages = (
  pod: Pod,
  { name, volumeMounts = [] }: Container | EphemeralContainer,
  ensure: (image: WantedImage) => Observable<PresentImage | StartWait>,
): Observable<VolumeImages | StartWait> =>
  defer(() => {
    const images = new Map(
      (pod.spec.volumes ?? []).flatMap(({ name: volume, image }) => (image ? [[volume, image]] : [])),
    );
    const mounted = [...new Set(volumeMounts.map((mount) => mount.name))];
    return from(mounted).pipe(
      concatMap((volume) => {
        const image = images.get(volume);
        if (!image) return [];
        const { reference = '', pullPolicy } = image;
        return ensure({
          name,
          image: reference,
          ...(pullPolicy !== undefined && { imagePullPolicy: pullPolicy }),
        }).pipe(
          catchError((error: unknown) => {
            if (error instanceof ContainerSyncError) return of(error);
            throw error;
          }),
          map((found) => ({ volume, found })),
        );
      }),
      reduce(withImage, new Map<string, string>()),
      concatMap((found) => (found instanceof ContainerSyncError ? throwError(() => found) : of(found))),
    );
  });

interface FoundImage {
  readonly volume: string;
  readonly found: Pick<PresentImage, 'id'> | StartWait | ContainerSyncError;
}
type Result = VolumeImages | StartWait | ContainerSyncError;

/** The last failure or wait stands for all images. */
const withImage = (images: Result, { volume, found }: FoundImage): Result => {
  if (found instanceof ContainerSyncError || isStartWait(found)) return found;
  return images instanceof Map ? new Map(images).set(volume, found.id) : images;
};
