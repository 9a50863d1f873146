import { Map as ImmutableMap } from 'immutable';
import { type FailedPull, isImageEntryStale, type PullFailure } from '../images/image-back-off.js';
import type { BackOffEntry } from '../values/back-off.js';
import { deleteEntries } from '../values/retain.js';
import { updated } from '../values/updated.js';
import { type CrashLoopEntry, crashLoopKeysOf, isCrashLoopEntryStale } from './crash-loop-back-off.js';

/** The back-offs of containers and images. */
export interface BackOffs {
  /** Restarts, by `crashLoopKey`; see `CrashLoopInput.entry`. */
  readonly restarts: ImmutableMap<string, CrashLoopEntry>;
  /** Pulls, by `imageBackOffKey`. */
  readonly pulls: ImmutableMap<string, BackOffEntry>;
  /** The last failures of pulls, by `imageBackOffKey`. */
  readonly pullFailures: ImmutableMap<string, PullFailure>;
}

/** The back-offs and the last failures of pulls, by `imageBackOffKey`. */
export interface ImagePulls {
  readonly backOffOf: (key: string) => BackOffEntry | undefined;
  readonly failureOf: (key: string) => PullFailure | undefined;
  /** Takes the end of a pull; without `failed` it succeeded. */
  readonly ended: (key: string, failed?: FailedPull) => void;
}

export const NO_BACK_OFFS: BackOffs = { restarts: ImmutableMap(), pulls: ImmutableMap(), pullFailures: ImmutableMap() };

export const restartBackedOff = (backOffs: BackOffs, key: string, entry: CrashLoopEntry): BackOffs =>
  updated(backOffs, { restarts: backOffs.restarts.set(key, entry) });

/** Takes the end of a pull. After a success the back-off stays where it was: a registry that works now and then does not get more requests. */
export const pullEnded = (backOffs: BackOffs, key: string, failed?: FailedPull): BackOffs =>
  updated(
    backOffs,
    failed
      ? { pulls: backOffs.pulls.set(key, failed.entry), pullFailures: backOffs.pullFailures.set(key, failed.failure) }
      : { pullFailures: backOffs.pullFailures.delete(key) },
  );

/**
 * Drops the entries that no decision depends on any more at `now`, the scheduler's milliseconds.
 *
 * Source: staging/src/k8s.io/client-go/util/flowcontrol/backoff.go GC
 */
export const withoutStale = (backOffs: BackOffs, now: number): BackOffs => {
  const pulls = deleteEntries(backOffs.pulls, (_, entry) => isImageEntryStale(entry, now));
  return updated(backOffs, {
    restarts: deleteEntries(backOffs.restarts, (_, entry) => isCrashLoopEntryStale(entry, now)),
    pulls,
    // A failure only explains a back-off.
    pullFailures: deleteEntries(backOffs.pullFailures, (key) => !pulls.has(key)),
  });
};

/** Drops the restarts of a pod that is forgotten: if it is given back under its UID, as a static pod is, it starts over. */
export const withoutRestarts = (backOffs: BackOffs, uid: string): BackOffs =>
  updated(backOffs, { restarts: deleteEntries(backOffs.restarts, (key) => key.startsWith(crashLoopKeysOf(uid))) });
