import { concatMap, defer, from, map, type Observable, of, reduce, takeWhile } from 'rxjs';
import type { Container, EphemeralContainer } from '../../model/pod/pod.js';
import { isStartWait, type StartWait } from '../../model/pod-actions/start-wait.js';
import { ensureImage, type ImagePulls, type PresentImage } from '../images/ensure-image.js';
import type { Sandbox } from './ensure-sandbox.js';
import type { PodSyncContext } from './pod-sync-context.js';

type VolumeImages = ReadonlyMap<string, string>;

/**
 * Gets the images of the image volumes that a container mounts, with the rules for its own image. Emits their ids by volume once,
 * or a wait while a pull backs off.
 *
 * Errors: `ContainerSyncError` by the reason that the status of the container shows.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go getImageVolumes
 */
export const volumeImages = (
  context: PodSyncContext,
  { name, volumeMounts = [] }: Container | EphemeralContainer,
  pulls: ImagePulls,
  sandbox: Pick<Sandbox, 'config'>,
): Observable<VolumeImages | StartWait> =>
  defer(() => {
    const mounted = new Set(volumeMounts.map((mount) => mount.name));
    const wanted = (context.pod.spec.volumes ?? []).flatMap(({ name: volume, image }) =>
      image && mounted.has(volume) ? [{ volume, image }] : [],
    );
    if (wanted.length === 0) return of<VolumeImages>(new Map());
    return from(wanted).pipe(
      concatMap(({ volume, image: { reference = '', pullPolicy } }) =>
        ensureImage(
          context,
          { name, image: reference, ...(pullPolicy !== undefined && { imagePullPolicy: pullPolicy }) },
          pulls,
          sandbox,
        ).pipe(map((found) => ({ volume, found }))),
      ),
      takeWhile(({ found }) => !isStartWait(found), true),
      reduce(withImage, new Map<string, string>()),
    );
  });

interface FoundImage {
  readonly volume: string;
  readonly found: Pick<PresentImage, 'id'> | StartWait;
}

/** A wait for one image is a wait for all. */
const withImage = (images: VolumeImages | StartWait, { volume, found }: FoundImage): VolumeImages | StartWait => {
  if (isStartWait(images)) return images;
  if (isStartWait(found)) return found;
  return new Map(images).set(volume, found.id);
};
