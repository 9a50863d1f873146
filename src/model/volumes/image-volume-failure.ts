import type { DeepPartial, Mount } from '../../generated/runtime/v1/api.js';

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
