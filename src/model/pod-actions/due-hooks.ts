/** The postStart hooks of running containers that have not ended well yet, by pod. */
export class DueHooks {
  readonly #due = new Map<string, Set<string>>();
  readonly #known = new Set<string>();

  /** Whether the hooks that an earlier agent has left are known. */
  isKnown(uid: string): boolean {
    return this.#known.has(uid);
  }

  /** Whether the container has a hook that has not ended well. */
  has(uid: string, containerId: string): boolean {
    return this.#due.get(uid)?.has(containerId) ?? false;
  }

  /** The ids of the pod's containers with such a hook. */
  of(uid: string): readonly string[] {
    return [...(this.#due.get(uid) ?? [])];
  }

  /** Adds the hooks that an earlier agent has left, perhaps none. */
  found(uid: string, containerIds: readonly string[]): void {
    this.#known.add(uid);
    for (const id of containerIds) this.begun(uid, id);
  }

  begun(uid: string, containerId: string): void {
    const due = this.#due.get(uid) ?? new Set();
    this.#due.set(uid, due.add(containerId));
  }

  /** The hook has ended well, or its container has ended. */
  ended(uid: string, containerId: string): void {
    const due = this.#due.get(uid);
    due?.delete(containerId);
    if (due?.size === 0) this.#due.delete(uid);
  }

  /** Drops what is known of all other pods. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#known) if (!uids.has(uid)) this.#known.delete(uid);
    for (const uid of this.#due.keys()) if (!uids.has(uid)) this.#due.delete(uid);
  }
}
