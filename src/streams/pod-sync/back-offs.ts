import type { BackOffEntry } from '../../model/back-off.js';
import { isCrashLoopEntryStale } from '../../model/crash-loop-back-off.js';
import { isImageEntryStale } from '../../model/image-back-off.js';
import type { ImagePulls } from './ensure-image.js';

/** What the agent remembers of containers and images that went wrong. */
export interface BackOffs {
  /** Restarts, by `crashLoopKey`. */
  readonly restarts: Map<string, BackOffEntry>;
  readonly pulls: ImagePulls;
}

export const newBackOffs = (): BackOffs => ({
  restarts: new Map(),
  pulls: { backOff: new Map(), failures: new Map() },
});

/**
 * Drops what no decision depends on any more at `now` (Unix milliseconds).
 *
 * Source: staging/src/k8s.io/client-go/util/flowcontrol/backoff.go GC
 */
export const dropStale = ({ restarts, pulls }: BackOffs, now: number): void => {
  for (const [key, entry] of restarts) if (isCrashLoopEntryStale(entry, now)) restarts.delete(key);
  for (const [key, entry] of pulls.backOff) if (isImageEntryStale(entry, now)) pulls.backOff.delete(key);
  // A failure only explains a back-off.
  for (const key of pulls.failures.keys()) if (!pulls.backOff.has(key)) pulls.failures.delete(key);
};
