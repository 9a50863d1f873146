/** Source: pkg/kubelet/reason_cache.go */
export const ENTRIES_KEPT = 1_000;

export interface StartFailure {
  /** The waiting reason, such as `CrashLoopBackOff`. */
  readonly reason: string;
  readonly message: string;
}

/** The reason of each container's last failed start. Keeps the 1000 entries that were used last. */
export class ReasonCache {
  readonly #failures = new Map<string, StartFailure>();

  /** Stores a failed start; a successful one (`undefined`) removes the entry. */
  set(uid: string, container: string, failure: StartFailure | undefined): void {
    const key = `${uid}_${container}`;
    this.#failures.delete(key);
    if (!failure) return;
    this.#failures.set(key, failure);
    if (this.#failures.size > ENTRIES_KEPT) this.#failures.delete(this.#failures.keys().next().value!);
  }

  get(uid: string, container: string): StartFailure | undefined {
    const key = `${uid}_${container}`;
    const failure = this.#failures.get(key);
    if (failure) {
      this.#failures.delete(key);
      this.#failures.set(key, failure);
    }
    return failure;
  }
}
