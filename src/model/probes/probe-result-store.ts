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

  get(type: ProbeType, containerId: string): ProbeResult | undefined {
    return this.#entries[type].get(containerId)?.result;
  }

  /** Sets a result. Returns whether it has changed. */
  set(type: ProbeType, instance: ProbedInstance, result: ProbeResult): boolean {
    const { containerId } = instance;
    if (this.get(type, containerId) === result) return false;
    this.#entries[type].set(containerId, { ...instance, result });
    return true;
  }

  /**
   * Removes the results of a container except those of one instance, if it is given. Returns whether any were removed.
   */
  keepOnly(type: ProbeType, { uid, container }: Omit<ProbedInstance, 'containerId'>, containerId?: string): boolean {
    return this.#drop(
      type,
      (entry) => entry.uid === uid && entry.container === container && entry.containerId !== containerId,
    );
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
    for (const [id] of gone) entries.delete(id);
    return gone.length > 0;
  }
}
