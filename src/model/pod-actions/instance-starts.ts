/** The start of an instance by this agent, in the scheduler's milliseconds. */
export interface InstanceStart {
  readonly containerId: string;
  /** When the runtime had answered: the instance ran by then. Absent before, and after an error. */
  readonly answeredAt?: number;
}

/** The newest start of each container by this agent. */
export class InstanceStarts {
  readonly #ofPod = new Map<string, Map<string, InstanceStart>>();

  /** Undefined for an instance that an earlier agent has started. */
  get(uid: string, containerId: string): InstanceStart | undefined {
    return [...(this.#ofPod.get(uid)?.values() ?? [])].find((start) => start.containerId === containerId);
  }

  set(uid: string, container: string, start: InstanceStart): void {
    const ofPod = this.#ofPod.get(uid) ?? new Map<string, InstanceStart>();
    this.#ofPod.set(uid, ofPod.set(container, start));
  }

  /** Drops the starts of all other pods. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#ofPod.keys()) if (!uids.has(uid)) this.#ofPod.delete(uid);
  }
}
