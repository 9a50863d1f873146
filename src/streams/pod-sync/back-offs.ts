import { isImageEntryStale } from '../../model/images/image-back-off.js';
import {
  type CrashLoopEntry,
  crashLoopKeysOf,
  isCrashLoopEntryStale,
} from '../../model/pod-actions/crash-loop-back-off.js';
import type { BackOffEntry } from '../../model/values/back-off.js';
import type { FailedPull, ImagePulls } from '../images/ensure-image.js';

/** The back-offs of containers and images. */
export interface BackOffs {
  /** Restarts, by `crashLoopKey`; see `CrashLoopInput.entry`. */
  readonly restarts: Map<string, CrashLoopEntry>;
  /** Pulls, by `imageBackOffKey`. */
  readonly pulls: ImagePulls & {
    readonly backOff: Map<string, BackOffEntry>;
    readonly failures: Map<string, FailedPull['failure']>;
  };
}

export const newBackOffs = (): BackOffs => {
  const backOff = new Map<string, BackOffEntry>();
  const failures = new Map<string, FailedPull['failure']>();
  const ended = (key: string, failed?: FailedPull): void => {
    // After a success the back-off stays where it was: a registry that works now and then does not get more requests.
    if (!failed) return void failures.delete(key);
    backOff.set(key, failed.entry);
    failures.set(key, failed.failure);
  };
  return { restarts: new Map(), pulls: { backOff, failures, ended } };
};

/**
 * Drops the entries that no decision depends on any more at `now`, the scheduler's milliseconds.
 *
 * Source: staging/src/k8s.io/client-go/util/flowcontrol/backoff.go GC
 */
export const dropStale = ({ restarts, pulls }: BackOffs, now: number): void => {
  for (const [key, entry] of restarts) if (isCrashLoopEntryStale(entry, now)) restarts.delete(key);
  for (const [key, entry] of pulls.backOff) if (isImageEntryStale(entry, now)) pulls.backOff.delete(key);
  // A failure only explains a back-off.
  for (const key of pulls.failures.keys()) if (!pulls.backOff.has(key)) pulls.failures.delete(key);
};

/** Drops the restarts of a pod that is forgotten: if it is given back under its UID, as a static pod is, it starts over. */
export const dropRestarts = ({ restarts }: Pick<BackOffs, 'restarts'>, uid: string): void => {
  for (const key of restarts.keys()) if (key.startsWith(crashLoopKeysOf(uid))) restarts.delete(key);
};
