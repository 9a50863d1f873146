import { advance, type BackOffEntry, type BackOffTable, isBlocked, isExpired, stepOf } from '../values/back-off.js';
import type { Pod } from '../pod/pod.js';

/** Source: pkg/kubelet/kubelet.go imageBackOff; entries are forgotten after twice the longest delay. */
export const IMAGE_BACKOFF: BackOffTable = { initialMs: 10_000, maxMs: 300_000, resetAfterMs: 600_000 };

/** The reason of the last failed pull of an image. */
export interface PullFailure {
  /** `ErrImagePull`, `RegistryUnavailable`, ... */
  readonly reason: string;
  readonly message: string;
}

/** A failed pull, and the back-off before the next one. */
export interface FailedPull {
  readonly entry: BackOffEntry;
  readonly failure: PullFailure;
}

export type ImageBackOffVerdict =
  | {
      readonly blocked: true;
      readonly delayMs: number;
      /** Milliseconds from now until the next pull is allowed. */
      readonly leftMs: number;
      readonly step: number;
      readonly steps: number;
      readonly resetAfterMs: number;
      /** The message of the waiting state `ImagePullBackOff`. */
      readonly message: string;
      /** The message of the event `BackOff`, which has the type Normal for images. */
      readonly eventMessage: string;
    }
  | { readonly blocked: false };

/**
 * Whether a pull has to wait after failed pulls: 10 s after the first failure, then twice as long each time. Times are the scheduler's
 * milliseconds: no entry outlives the agent, and a wait does not depend on the time of day.
 *
 * Source: pkg/kubelet/images/image_manager.go pullImage.
 */
export const decideImageBackOff = ({
  entry,
  image,
  lastFailure,
  now,
}: {
  readonly entry: BackOffEntry | undefined;
  readonly image: string;
  readonly lastFailure?: PullFailure | undefined;
  readonly now: number;
}): ImageBackOffVerdict => {
  // Measured from the last failure, so an entry only counts while it is younger than its own delay.
  if (!isBlocked(entry, { since: entry?.lastUpdate ?? now, now, table: IMAGE_BACKOFF })) return { blocked: false };
  const eventMessage = `Back-off pulling image "${image}"`;
  return {
    blocked: true,
    delayMs: entry.delayMs,
    leftMs: entry.lastUpdate + entry.delayMs - now,
    ...stepOf(entry.delayMs, IMAGE_BACKOFF),
    resetAfterMs: IMAGE_BACKOFF.resetAfterMs,
    message: lastFailure ? `${eventMessage}: ${lastFailure.reason}: ${lastFailure.message}` : eventMessage,
    eventMessage,
  };
};

/** The entry after a pull that failed at `now`. */
export const afterFailedPull = (entry: BackOffEntry | undefined, now: number): BackOffEntry =>
  advance(entry, { eventAt: now, now, table: IMAGE_BACKOFF });

/** The key of an entry: another pod begins a table of its own. */
export const imageBackOffKey = ({ metadata: { uid } }: Pod, image: string): string => `${uid}_${image}`;

/** The entry has expired. */
export const isImageEntryStale = (entry: BackOffEntry, now: number): boolean => isExpired(entry, now, IMAGE_BACKOFF);
