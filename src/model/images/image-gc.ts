import type { Image } from '../../generated/runtime/v1/api.js';
import { formatGoDuration } from '../values/go-duration.js';
import { aggregateText } from '../runtime-health/runtime-state.js';

/** Source: pkg/kubelet/images/image_gc_manager.go ImageGCPolicy. */
export interface ImageGcPolicy {
  /** Images are removed from this percentage of used disk on; 100 for never. */
  readonly highThresholdPercent: number;
  /** Images are removed until this percentage of the disk is used. */
  readonly lowThresholdPercent: number;
  /** Milliseconds for which an image is kept after it was first seen, even on a full disk. */
  readonly minAgeMs: number;
  /** Milliseconds without use after which an image is removed, even from an empty disk; 0 for never. */
  readonly maxAgeMs: number;
}

/** Source: pkg/kubelet/apis/config/v1beta1/defaults.go. */
export const DEFAULT_IMAGE_GC: ImageGcPolicy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minAgeMs: 120_000,
  maxAgeMs: 0,
};

/**
 * Whether there are images to collect. The one image of the embedded runtime is the machine itself, and images do not
 * fill the machine's disk.
 */
export const keepsImages = (runtimeName: string): boolean => runtimeName !== 'rx-embedded';

/** Whether no image is ever collected. Source: pkg/kubelet/kubelet.go StartGarbageCollection. */
export const collectsNoImages = ({ highThresholdPercent, maxAgeMs }: ImageGcPolicy): boolean =>
  highThresholdPercent === 100 && maxAgeMs === 0;

/** The record of an image. Times are the scheduler's milliseconds. */
export interface ImageRecord {
  readonly id: string;
  readonly firstDetected: number;
  /** When a container last used it; -Infinity if none ever did. */
  readonly lastUsed: number;
  readonly bytes: bigint;
  /** The runtime needs the image. */
  readonly isPinned: boolean;
}
export type ImageRecords = ReadonlyMap<string, ImageRecord>;

/** The further results of one listing of images. */
export interface ImageUse {
  /**
   * Ids and references of the images of all containers, ended ones included, of image volumes, and of the pods'
   * sandboxes.
   */
  readonly names: ReadonlySet<string>;
  /** When the listing began and when it ended. */
  readonly begunAt: number;
  readonly endedAt: number;
}

const isUsed = ({ id, repoDigests, repoTags }: Image, names: ReadonlySet<string>): boolean =>
  [id, ...repoDigests, ...repoTags].some((name) => names.has(name));

/**
 * Returns containerd's sandbox image, from the verbose reply to `Status`; undefined if the reply does not name it.
 * containerd pins that image only since 1.7; on a node that cannot pull it again, no pod would start any more.
 */
export const sandboxImageOf = ({ config = '' }: Readonly<Record<string, string>>): string | undefined => {
  try {
    const parsed: unknown = JSON.parse(config);
    if (typeof parsed !== 'object' || parsed === null || !('sandboxImage' in parsed)) return undefined;
    return typeof parsed.sandboxImage === 'string' && parsed.sandboxImage !== '' ? parsed.sandboxImage : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Returns the records after a listing of images: new images are added, used ones marked, vanished ones removed.
 *
 * Source: pkg/kubelet/images/image_gc_manager.go detectImages
 */
export const detectImages = (
  before: ImageRecords,
  images: readonly Image[],
  { names, begunAt, endedAt }: ImageUse,
): ImageRecords =>
  new Map(
    images.map((image) => {
      const known = before.get(image.id);
      const record: ImageRecord = {
        id: image.id,
        firstDetected: known?.firstDetected ?? begunAt,
        lastUsed: isUsed(image, names) ? endedAt : (known?.lastUsed ?? -Infinity),
        bytes: image.size,
        isPinned: image.pinned,
      };
      return [image.id, record];
    }),
  );

/**
 * Returns the removable images: the least recently used first, then the longest known. Images in use since `now`, the
 * beginning of the listing, and pinned ones are not removable.
 *
 * Source: pkg/kubelet/images/image_gc_manager.go imagesInEvictionOrder
 */
export const imagesInEvictionOrder = (records: ImageRecords, now: number): readonly ImageRecord[] =>
  [...records.values()]
    .filter(({ lastUsed, isPinned }) => lastUsed < now && !isPinned)
    .toSorted((one, other) =>
      one.lastUsed === other.lastUsed
        ? one.firstDetected - other.firstDetected
        : one.lastUsed < other.lastUsed
          ? -1
          : 1,
    );

/**
 * Whether an image is removed for its age: the time since its last use, or since it was first seen. An agent younger
 * than that age cannot know when an image was last used. (The kubelet treats an image that was never used as infinitely
 * old, even right after its pull.)
 *
 * Source: pkg/kubelet/images/image_gc_manager.go freeOldImages
 */
export const isTooOld = (
  { lastUsed, firstDetected }: ImageRecord,
  { maxAgeMs }: ImageGcPolicy,
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): boolean => maxAgeMs > 0 && now - startedAt > maxAgeMs && now - Math.max(lastUsed, firstDetected) > maxAgeMs;

/** Whether an image may be removed for space. A new image is about to be used. */
export const mayMakeRoom = ({ firstDetected }: ImageRecord, { minAgeMs }: ImageGcPolicy, now: number): boolean =>
  now - firstDetected >= minAgeMs;

/** The capacity and the use of the images' file system, in bytes. */
export interface ImageDisk {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
}

export interface DiskVerdict {
  /** The percentage of the capacity, 0 to 100. */
  readonly usedPercent: number;
  /** 0 while the disk is below the threshold. */
  readonly bytesToFree: bigint;
}

/**
 * Returns how full the disk is, and the bytes to free; undefined for a disk without a capacity.
 *
 * Source: pkg/kubelet/images/image_gc_manager.go GarbageCollect
 */
export const judgeDisk = (
  { capacityBytes, availableBytes }: ImageDisk,
  { highThresholdPercent, lowThresholdPercent }: ImageGcPolicy,
): DiskVerdict | undefined => {
  if (capacityBytes === 0n) return undefined;
  const available = availableBytes > capacityBytes ? capacityBytes : availableBytes;
  const usedPercent = 100 - Number((available * 100n) / capacityBytes);
  if (usedPercent < highThresholdPercent) return { usedPercent, bytesToFree: 0n };
  return { usedPercent, bytesToFree: (capacityBytes * BigInt(100 - lowThresholdPercent)) / 100n - available };
};

export const INVALID_CAPACITY = 'invalid capacity 0 on image filesystem';

/** The message of the event `FreeDiskSpaceFailed`. */
export const notEnoughRoom = ({ usedPercent }: DiskVerdict, { capacityBytes }: ImageDisk, freed: bigint): string =>
  `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${formatSize(capacityBytes)} used). ` +
  `Failed to free sufficient space by deleting unused images (freed ${freed} bytes). ` +
  'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';

export const oldImagesStay = ({ maxAgeMs }: ImageGcPolicy, problems: readonly string[]): string =>
  `wanted to free images older than ${formatGoDuration(maxAgeMs)}, encountered errors in image deletion: ${aggregateText(problems)}`;

export const imagesStay = (wanted: bigint, freed: bigint, problems: readonly string[]): string =>
  `wanted to free ${wanted} bytes, but freed ${freed} bytes space with errors in image deletion: ${aggregateText(problems)}`;

export const unusedImagesStay = (freed: bigint, problems: readonly string[]): string =>
  `wanted to free all unused images, but freed ${freed} bytes with errors in image deletion: ${aggregateText(problems)}`;

/** Source: pkg/kubelet/images/image_gc_manager.go formatSize. */
const formatSize = (bytes: bigint): string => {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  if (bytes < 1024n) return `${bytes} B`;
  let size = Number(bytes) / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size.toFixed(1)} ${units[unit]}`;
};
