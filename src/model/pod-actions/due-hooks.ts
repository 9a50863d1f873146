/** The postStart hooks that have not succeeded yet, by pod and by the id of the running container. */
export class DueHooks {
  readonly #due = new Map<string, Set<string>>();
  readonly #known = new Set<string>();

  /** Whether the hooks of an earlier agent have been read from the disk. */
  isKnown(uid: string): boolean {
    return this.#known.has(uid);
  }

  /** Whether the container has a hook that has not succeeded. */
  has(uid: string, containerId: string): boolean {
    return this.#due.get(uid)?.has(containerId) ?? false;
  }

  /** The ids of the pod's containers with such a hook. */
  of(uid: string): readonly string[] {
    return [...(this.#due.get(uid) ?? [])];
  }

  /** Adds the hooks of an earlier agent; `containerIds` may be empty. */
  found(uid: string, containerIds: readonly string[]): void {
    this.#known.add(uid);
    for (const id of containerIds) this.begun(uid, id);
  }

  begun(uid: string, containerId: string): void {
    const due = this.#due.get(uid) ?? new Set();
    this.#due.set(uid, due.add(containerId));
  }

  /** Removes a hook that has succeeded, or whose container has ended. */
  ended(uid: string, containerId: string): void {
    const due = this.#due.get(uid);
    due?.delete(containerId);
    if (due?.size === 0) this.#due.delete(uid);
  }

  /** Forgets all other pods. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#known) if (!uids.has(uid)) this.#known.delete(uid);
    for (const uid of this.#due.keys()) if (!uids.has(uid)) this.#due.delete(uid);
  }
}
