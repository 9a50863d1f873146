/**
 * The turns of static pods that share a full name: one holds it, the others wait in order of arrival.
 * Two revisions of one manifest have different UIDs but the same name, and must not run side by side.
 *
 * Source: pkg/kubelet/pod_workers.go allowStaticPodStart
 */
export class StaticPodTurns {
  readonly #holders = new Map<string, string>();
  readonly #waiting = new Map<string, readonly string[]>();

  queue(fullName: string, uid: string): void {
    this.#waiting.set(fullName, [...(this.#waiting.get(fullName) ?? []), uid]);
  }

  /** Takes the name when it is free and `uid` is the first that `mayStart`; true if `uid` holds it now. */
  take(fullName: string, uid: string, mayStart: (waitingUid: string) => boolean): boolean {
    const holder = this.#holders.get(fullName);
    if (holder !== undefined) return holder === uid;
    const waiting = (this.#waiting.get(fullName) ?? []).filter(mayStart);
    if (waiting.length > 0 && waiting[0] !== uid) {
      this.#waiting.set(fullName, waiting);
      return false;
    }
    this.#keepWaiting(fullName, waiting.slice(1));
    this.#holders.set(fullName, uid);
    return true;
  }

  /**
   * Releases the name, or the place in the line. Returns the next pod if the name is free and a pod waits. A pod may leave the line
   * before its turn, so each pod that leaves while the name is free passes it on.
   */
  release(fullName: string, uid: string, mayStart: (waitingUid: string) => boolean): string | undefined {
    const remaining = (this.#waiting.get(fullName) ?? []).filter(
      (waitingUid) => waitingUid !== uid && mayStart(waitingUid),
    );
    this.#keepWaiting(fullName, remaining);
    if (this.#holders.get(fullName) === uid) this.#holders.delete(fullName);
    return this.#holders.has(fullName) ? undefined : remaining[0];
  }

  holderOf(fullName: string): string | undefined {
    return this.#holders.get(fullName);
  }

  /** Returns the pod that holds the name, else the first one in the line. */
  nextOf(fullName: string): string | undefined {
    return this.#holders.get(fullName) ?? this.#waiting.get(fullName)?.[0];
  }

  /** The number of names with a holder or a line; 0 after all are released. */
  get size(): number {
    return this.#holders.size + this.#waiting.size;
  }

  #keepWaiting(fullName: string, waiting: readonly string[]): void {
    if (waiting.length > 0) this.#waiting.set(fullName, waiting);
    else this.#waiting.delete(fullName);
  }
}
