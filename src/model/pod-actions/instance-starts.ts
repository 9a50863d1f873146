/** The start of an instance by this agent, in the scheduler's milliseconds. */
export interface InstanceStart {
  readonly containerId: string;
  /** When the runtime had answered: the instance ran by then. Absent before, and after an error. */
  readonly answeredAt?: number;
}

/** The newest start of each container by this agent. */
export class InstanceStarts {
  readonly #ofPod = new Map<
    string,
    { readonly newest: Map<string, string>; readonly byId: Map<string, InstanceStart> }
  >();

  /** Undefined for an instance that an earlier agent has started. */
  get(uid: string, containerId: string): InstanceStart | undefined {
    return this.#ofPod.get(uid)?.byId.get(containerId);
  }

  set(uid: string, container: string, start: InstanceStart): void {
    const { newest, byId } = this.#ofPod.get(uid) ?? {
      newest: new Map<string, string>(),
      byId: new Map<string, InstanceStart>(),
    };
    const before = newest.get(container);
    if (before !== undefined) byId.delete(before);
    newest.set(container, start.containerId);
    byId.set(start.containerId, start);
    this.#ofPod.set(uid, { newest, byId });
  }

  /** Drops the starts of all other pods. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#ofPod.keys()) if (!uids.has(uid)) this.#ofPod.delete(uid);
  }
}
