import type { Image } from '../../generated/runtime/v1/api.js';
import { formatGoDuration } from '../go-duration.js';
import { aggregateText } from '../runtime-state.js';

/** Source: pkg/kubelet/images/image_gc_manager.go ImageGCPolicy. */
export interface ImageGcPolicy {
  /** Percent of the disk in use from which on images make room; 100 for never. */
  readonly highThresholdPercent: number;
  /** Percent of the disk in use that they make room down to. */
  readonly lowThresholdPercent: number;
  /** Milliseconds that an image is left alone after it was seen first, however full the disk. */
  readonly minAgeMs: number;
  /** Milliseconds without a use after which an image goes, however empty the disk; 0 for never. */
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
 * Whether there is something to collect in principle: the one image of the embedded runtime is the machine itself, and what fills
 * the machine's disk is no matter of images.
 */
export const keepsImages = (runtimeName: string): boolean => runtimeName !== 'rx-embedded';

/** Whether nothing is ever collected. Source: pkg/kubelet/kubelet.go StartGarbageCollection. */
export const collectsNoImages = ({ highThresholdPercent, maxAgeMs }: ImageGcPolicy): boolean =>
  highThresholdPercent === 100 && maxAgeMs === 0;

/** What is remembered of an image. Times are the scheduler's milliseconds. */
export interface ImageRecord {
  readonly id: string;
  readonly firstDetected: number;
  /** When a container had it last; -Infinity when none ever did. */
  readonly lastUsed: number;
  readonly bytes: bigint;
  /** The runtime needs it. */
  readonly isPinned: boolean;
}
export type ImageRecords = ReadonlyMap<string, ImageRecord>;

/** What one look at the images finds besides the images. */
export interface ImageUse {
  /** Ids and references of the images of all containers, ended ones too, of image volumes, and of the pods' sandboxes. */
  readonly names: ReadonlySet<string>;
  /** When the look was begun, and when it was over. */
  readonly begunAt: number;
  readonly endedAt: number;
}

const isUsed = ({ id, repoDigests, repoTags }: Image, names: ReadonlySet<string>): boolean =>
  [id, ...repoDigests, ...repoTags].some((name) => names.has(name));

/**
 * What containerd makes sandboxes of, from the verbose answer to `Status`; undefined where it does not say so. It pins that image
 * only since 1.7, and where nobody can pull it again, pods would not start any more.
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
 * The records after a look at the images: new ones are added, those in use marked, vanished ones forgotten.
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
 * What may go, that which was not used for the longest time first, then that which is known for the longest time. Images in use
 * since `now`, when the look at them was begun, and pinned ones may not.
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
 * Whether an image goes for its age: the time since its last use, or since it was seen first. An agent younger than that age cannot
 * know when an image was used last. (The kubelet takes an image that was never used for infinitely old, however short it has been
 * there.)
 *
 * Source: pkg/kubelet/images/image_gc_manager.go freeOldImages
 */
export const isTooOld = (
  { lastUsed, firstDetected }: ImageRecord,
  { maxAgeMs }: ImageGcPolicy,
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): boolean => maxAgeMs > 0 && now - startedAt > maxAgeMs && now - Math.max(lastUsed, firstDetected) > maxAgeMs;

/** Whether an image may make room. One that has only just come will be needed at once. */
export const mayMakeRoom = ({ firstDetected }: ImageRecord, { minAgeMs }: ImageGcPolicy, now: number): boolean =>
  now - firstDetected >= minAgeMs;

/** Bytes of the file system that images are on. */
export interface ImageDisk {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
}

export interface DiskVerdict {
  /** Of the capacity, 0 to 100. */
  readonly usedPercent: number;
  /** 0 while the disk is not too full. */
  readonly bytesToFree: bigint;
}

/**
 * How full the disk is, and what has to go; undefined for a disk without a capacity.
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
  `wanted to free images older than ${formatGoDuration(maxAgeMs)}, encountered errors in image deletion: ${joined(problems)}`;

export const imagesStay = (wanted: bigint, freed: bigint, problems: readonly string[]): string =>
  `wanted to free ${wanted} bytes, but freed ${freed} bytes space with errors in image deletion: ${joined(problems)}`;

const joined = (problems: readonly string[]): string => aggregateText([...new Set(problems)]);

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
