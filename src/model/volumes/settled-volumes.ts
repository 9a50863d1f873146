/** The files of a volume are compared with the disk at the first sync of the pod after this time, in milliseconds. */
export const DISK_CHECK_MS = 600_000;
/** A container starts only on files that were compared with the disk within this time, in milliseconds. */
export const START_CHECK_MS = 60_000;

interface Settled {
  readonly print: string;
  readonly at: number;
}

/**
 * The volumes that this life of the agent has set up, with the fingerprint of what it wrote and the time of the last comparison with
 * the disk. Upstream compares in each sync of a pod; here a sync without a change does not touch the disk.
 *
 * Source: pkg/kubelet/volumemanager/cache/actual_state_of_world.go MarkRemountRequired
 */
export class SettledVolumes {
  readonly #volumes = new Map<string, Settled>();

  /** The volume has the content with this fingerprint, by the disk. `at` is in milliseconds. */
  settle(uid: string, volume: string, settled: Settled): void {
    this.#volumes.set(keyOf(uid, volume), settled);
  }

  /** The next set-up reads the disk: this one has failed, or has not ended, or is not to be relied on. */
  forget(uid: string, volume: string): void {
    this.#volumes.delete(keyOf(uid, volume));
  }

  /** Whether a sync leaves the disk alone. `now` is in milliseconds. */
  isUnchanged(uid: string, volume: string, print: string, now: number): boolean {
    const settled = this.#volumes.get(keyOf(uid, volume));
    return settled?.print === print && now - settled.at < DISK_CHECK_MS;
  }

  /** Whether a container may start without another comparison. `now` is in milliseconds. */
  isRecent(uid: string, volume: string, now: number): boolean {
    const settled = this.#volumes.get(keyOf(uid, volume));
    return settled !== undefined && now - settled.at < START_CHECK_MS;
  }
}

const keyOf = (uid: string, volume: string): string => `${uid}/${volume}`;
