import type { DeepPartial, Mount } from '../../generated/runtime/v1/api.js';
import type { Container, EphemeralContainer, Pod } from '../pod/pod.js';
import { isStartWait, type StartWait } from '../pod-actions/start-wait.js';
import { ContainerSyncError } from '../pod-actions/sync-error.js';

/** The image of a volume, as a container wants it. */
export interface VolumeImage {
  readonly volume: string;
  readonly wanted: Pick<Container, 'name' | 'image' | 'imagePullPolicy'>;
}

/**
 * Returns the images of the image volumes that a container mounts, each once, in the order of its mounts.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go getImageVolumes
 */
export const mountedImages = (
  pod: Pod,
  { name, volumeMounts = [] }: Pick<Container | EphemeralContainer, 'name' | 'volumeMounts'>,
): readonly VolumeImage[] => {
  const images = new Map(
    (pod.spec.volumes ?? []).flatMap(({ name: volume, image }) => (image ? [[volume, image]] : [])),
  );
  const mounted = [...new Set(volumeMounts.map((mount) => mount.name))];
  return mounted.flatMap((volume) => {
    const image = images.get(volume);
    if (!image) return [];
    const { reference = '', pullPolicy } = image;
    const policy = pullPolicy !== undefined && { imagePullPolicy: pullPolicy };
    return [{ volume, wanted: { name, image: reference, ...policy } }];
  });
};

/** The result of getting the image of one volume: its id, or the wait or failure of its pull. */
export interface FoundImage {
  readonly volume: string;
  readonly found: { readonly id: string } | StartWait | ContainerSyncError;
}

/** Returns the ids of the images by volume; the last wait or failure stands for all of them. */
export const imagesByVolume = (
  results: readonly FoundImage[],
): ReadonlyMap<string, string> | StartWait | ContainerSyncError => {
  const images = new Map<string, string>();
  let problem: StartWait | ContainerSyncError | undefined;
  for (const { volume, found } of results) {
    if (found instanceof ContainerSyncError || isStartWait(found)) problem = found;
    else images.set(volume, found.id);
  }
  return problem ?? images;
};

/**
 * Returns the text of a failed CreateContainer call. A runtime that has no image volumes takes such a mount for one of a path
 * without a name, and its error says nothing of images. CRI has no field by which a runtime declares them, so the text names the
 * possible cause.
 */
export const createFailureText = (
  error: string,
  mounts: readonly Pick<DeepPartial<Mount>, 'image' | 'containerPath'>[],
): string => {
  const images = mounts.flatMap(({ image, containerPath }) =>
    image ? [`${image.userSpecifiedImage} at ${containerPath}`] : [],
  );
  if (images.length === 0) return error;
  const volumes = images.length === 1 ? 'an image volume' : 'image volumes';
  return `${error} (the container mounts ${volumes}, ${images.join(', ')}: the runtime may not support that; containerd does from 2.1 on)`;
};
