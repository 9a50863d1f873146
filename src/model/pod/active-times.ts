/** The present time of both clocks, in milliseconds. */
export interface Moment {
  /** The scheduler's. */
  readonly now: number;
  /** Unix. */
  readonly wallNow: number;
}

/**
 * The times for which pods have been on this node. The time of day is read once for each pod: a clock that is set later makes no pod
 * older or younger. A start in the future counts as now. (A kubelet compares the start time with the time of day at each check.)
 */
export class ActiveTimes {
  readonly #started = new Map<string, { readonly startTime: string; readonly at: number }>();

  /** Remembers when this start was first seen. Returns the milliseconds since `startTime`, RFC 3339. */
  seen(uid: string, startTime: string, { now, wallNow }: Moment): number {
    const known = this.#started.get(uid);
    if (known?.startTime === startTime) return now - known.at;
    const activeMs = Math.max(0, wallNow - Date.parse(startTime));
    this.#started.set(uid, { startTime, at: now - activeMs });
    return activeMs;
  }

  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#started.keys()) if (!uids.has(uid)) this.#started.delete(uid);
  }
}
