import type { ProbeRecord } from './probe-record.js';
import { PROBE_TYPES, type ProbeResult, type ProbeType } from './probe-worker.js';

/** An instance of a container. */
export interface ProbedInstance {
  readonly uid: string;
  readonly container: string;
  readonly containerId: string;
}

interface Entry extends ProbedInstance {
  readonly result: ProbeResult;
}

/**
 * The probes' results of instances, for each type by container id.
 *
 * Source: pkg/kubelet/prober/results/results_manager.go
 */
export class ProbeResultStore {
  readonly #entries: Readonly<Record<ProbeType, Map<string, Entry>>> = {
    startup: new Map(),
    readiness: new Map(),
    liveness: new Map(),
  };
  /** The container ids with a result, by type, pod and container: a new instance of one does not look through those of all. */
  readonly #ids = new Map<string, Set<string>>();

  get(type: ProbeType, containerId: string): ProbeResult | undefined {
    return this.#entries[type].get(containerId)?.result;
  }

  /** Sets a result. Returns whether it has changed. */
  set(type: ProbeType, instance: ProbedInstance, result: ProbeResult): boolean {
    const { containerId } = instance;
    const before = this.#entries[type].get(containerId);
    if (before?.result === result) return false;
    this.#entries[type].set(containerId, { ...instance, result });
    const key = keyOf(type, instance);
    if (before) this.#ids.get(keyOf(type, before))?.delete(containerId);
    const ids = this.#ids.get(key) ?? new Set<string>();
    this.#ids.set(key, ids.add(containerId));
    return true;
  }

  /**
   * Removes the results of a container except those of one instance, if it is given. Returns whether any were removed.
   */
  keepOnly(type: ProbeType, of: Omit<ProbedInstance, 'containerId'>, containerId?: string): boolean {
    const gone = [...(this.#ids.get(keyOf(type, of)) ?? [])].filter((id) => id !== containerId);
    for (const id of gone) this.#delete(type, id);
    return gone.length > 0;
  }

  /** Removes the results of all other pods. Returns whether any were removed. */
  retain(uids: ReadonlySet<string>): boolean {
    return PROBE_TYPES.map((type) => this.#drop(type, ({ uid }) => !uids.has(uid))).includes(true);
  }

  /** Removes the results of a pod. Returns whether any were removed. */
  forgetPod(gone: string): boolean {
    return PROBE_TYPES.map((type) => this.#drop(type, ({ uid }) => uid === gone)).includes(true);
  }

  /**
   * Returns the results that the next agent needs of running instances: ready or not, and started. Failures that kill a
   * container are not kept; the next agent probes again.
   */
  records(): readonly ProbeRecord[] {
    const kept = (type: 'startup' | 'readiness'): readonly ProbeRecord[] =>
      [...this.#entries[type].values()].flatMap(({ result, ...instance }) =>
        result === 'success' || (result === 'failure' && type === 'readiness') ? [{ type, ...instance, result }] : [],
      );
    return [...kept('startup'), ...kept('readiness')];
  }

  restore(records: readonly ProbeRecord[]): void {
    for (const { type, result, ...instance } of records) this.set(type, instance, result);
  }

  #drop(type: ProbeType, isGone: (entry: Entry) => boolean): boolean {
    const entries = this.#entries[type];
    const gone = [...entries].filter(([, entry]) => isGone(entry));
    for (const [id] of gone) this.#delete(type, id);
    return gone.length > 0;
  }

  #delete(type: ProbeType, containerId: string): void {
    const entry = this.#entries[type].get(containerId);
    this.#entries[type].delete(containerId);
    if (!entry) return;
    const key = keyOf(type, entry);
    const ids = this.#ids.get(key);
    ids?.delete(containerId);
    if (ids?.size === 0) this.#ids.delete(key);
  }
}

const keyOf = (type: ProbeType, { uid, container }: Omit<ProbedInstance, 'containerId'>): string =>
  `${type} ${uid} ${container}`;
