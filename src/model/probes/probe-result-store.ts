import type { ProbeRecord } from './probe-record.js';
import { PROBE_TYPES, type ProbeResult, type ProbeType } from './probe-worker.js';

/** Which instance of which container. */
export interface ProbedInstance {
  readonly uid: string;
  readonly container: string;
  readonly containerId: string;
}

interface Entry extends ProbedInstance {
  readonly result: ProbeResult;
}

/**
 * What probes have found out about instances, for each type by container id.
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

  /** Says whether that is news. */
  set(type: ProbeType, instance: ProbedInstance, result: ProbeResult): boolean {
    const { containerId } = instance;
    if (this.get(type, containerId) === result) return false;
    this.#entries[type].set(containerId, { ...instance, result });
    return true;
  }

  /** Forgets what is known of a container but for one of its instances, if any is named. Says whether anything was. */
  keepOnly(type: ProbeType, { uid, container }: Omit<ProbedInstance, 'containerId'>, containerId?: string): boolean {
    return this.#drop(
      type,
      (entry) => entry.uid === uid && entry.container === container && entry.containerId !== containerId,
    );
  }

  /** Forgets all other pods. Says whether anything was. */
  retain(uids: ReadonlySet<string>): boolean {
    return PROBE_TYPES.map((type) => this.#drop(type, ({ uid }) => !uids.has(uid))).includes(true);
  }

  /** Forgets a pod. Says whether anything was. */
  forgetPod(gone: string): boolean {
    return PROBE_TYPES.map((type) => this.#drop(type, ({ uid }) => uid === gone)).includes(true);
  }

  /**
   * What a later agent has to know of instances that still run then: whether they are ready, and that they have started.
   * Failures that kill a container are found out anew.
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
