import type { Image } from '../../generated/runtime/v1/api.js';
import type { NodeStatus } from './node.js';

/** Source: pkg/kubelet/nodestatus/setters.go MaxNamesPerImageInNodeStatus */
const MAX_NAMES = 5;

/**
 * Returns the first `maxImages` of the images, or all if that is below 0: each with at most five names, digests before
 * tags.
 *
 * Source: pkg/kubelet/nodestatus/setters.go Images
 */
export const nodeImages = (largestFirst: readonly Image[], maxImages: number): NonNullable<NodeStatus['images']> =>
  (maxImages < 0 ? largestFirst : largestFirst.slice(0, maxImages)).map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES),
    sizeBytes: Number(size),
  }));
