import { isSidecar, isTerminalPhase, type Pod } from '../pod/pod.js';
import { allNamed } from '../values/indexed-lists.js';

/** The time that a pod took to start, in seconds. */
export interface PodStart {
  /** From its creation until the watch showed it running. */
  readonly total: number;
  /** Without pulls and init containers; only for stateless pods. */
  readonly withoutPulls?: number;
  /** The pod is the first one with a network of its own. */
  readonly isFirstWithNetwork: boolean;
}

interface Tracked {
  readonly pulls: { readonly from: number; readonly to?: number }[];
  /** The API has received that the pod runs. */
  isReported: boolean;
  isMeasured: boolean;
}

/**
 * Measures the time from a pod's creation until the API shows it running. Counts only pods seen from the start that did
 * not wait for a place on the node. Times are Unix milliseconds.
 *
 * Source: pkg/kubelet/util/pod_startup_latency_tracker.go
 */
export class PodStartTracker {
  readonly #tracked = new Map<string, Tracked>();
  readonly #excluded = new Set<string>();
  #hasFirst = false;

  /** Records the watch's version of the pod; returns the result the first time that it runs there. */
  watched(pod: Pod, now: number): PodStart | undefined {
    const { uid } = pod.metadata;
    if (isTerminalPhase(pod.status?.phase)) {
      this.#tracked.delete(uid);
      return undefined;
    }
    if (isUnschedulable(pod)) {
      this.#tracked.delete(uid);
      // A pod that started long ago is not tracked again.
      if (pod.status?.startTime === undefined) this.#excluded.add(uid);
      return undefined;
    }
    const tracked = this.#tracked.get(uid);
    if (!tracked) {
      if (!this.#excluded.has(uid) && pod.status?.startTime === undefined) {
        this.#tracked.set(uid, { pulls: [], isReported: false, isMeasured: false });
      }
      return undefined;
    }
    if (!tracked.isReported || tracked.isMeasured || !hasStarted(pod)) return undefined;
    tracked.isMeasured = true;
    const totalMs = now - Date.parse(pod.metadata.creationTimestamp ?? '');
    if (Number.isNaN(totalMs)) return undefined;
    // A clock that was set back makes no time negative: sums of a histogram never shrink.
    const total = Math.max(0, totalMs) / 1_000;
    if (isStateful(pod)) return { total, isFirstWithNetwork: false };
    const isFirstWithNetwork = !pod.spec.hostNetwork && !this.#hasFirst;
    if (isFirstWithNetwork) this.#hasFirst = true;
    const withoutPulls = Math.max(0, totalMs - unionMs(tracked.pulls) - initMs(pod)) / 1_000;
    return { total, withoutPulls, isFirstWithNetwork };
  }

  pullStarted(uid: string, now: number): void {
    this.#tracked.get(uid)?.pulls.push({ from: now });
  }

  /** Ends the pull that began first. */
  pullEnded(uid: string, now: number): void {
    const pulls = this.#tracked.get(uid)?.pulls;
    const at = pulls?.findIndex(({ to }) => to === undefined) ?? -1;
    const pull = pulls?.[at];
    if (pulls && pull) pulls[at] = { ...pull, to: now };
  }

  /** Records that the API has accepted this status of the pod. */
  written(pod: Pod): void {
    const tracked = this.#tracked.get(pod.metadata.uid);
    if (tracked && hasStarted(pod)) tracked.isReported = true;
  }

  retain(uids: ReadonlySet<string>): void {
    for (const known of [this.#tracked, this.#excluded]) {
      for (const uid of known.keys()) if (!uids.has(uid)) known.delete(uid);
    }
  }
}

const isUnschedulable = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'PodScheduled' && status === 'False') ?? false;

/** Upstream treats a pod without container statuses as started. */
const hasStarted = ({ status }: Pod): boolean => {
  const statuses = status?.containerStatuses ?? [];
  return statuses.length > 0 && statuses.every(({ state }) => state?.running?.startedAt !== undefined);
};

const STATELESS = ['secret', 'configMap', 'downwardAPI', 'emptyDir', 'projected'] as const;

const isStateful = ({ spec }: Pod): boolean =>
  spec.volumes?.some((volume) => STATELESS.every((kind) => volume[kind] === undefined)) ?? false;

/** Overlapping pulls count once. */
const unionMs = (pulls: readonly { readonly from: number; readonly to?: number }[]): number => {
  let [sum, end] = [0, -Infinity];
  for (const { from, to } of pulls) {
    if (to === undefined || to <= end) continue;
    sum += to - Math.max(from, end);
    end = to;
  }
  return sum;
};

/** The run time of the regular init containers, by their last instances. */
const initMs = ({ spec, status }: Pod): number =>
  (status?.initContainerStatuses ?? [])
    .filter(({ name }) => allNamed(spec.initContainers ?? [], name).some((container) => !isSidecar(container)))
    .reduce((sum, { state }) => {
      const ran = Date.parse(state?.terminated?.finishedAt ?? '') - Date.parse(state?.terminated?.startedAt ?? '');
      return sum + (ran > 0 ? ran : 0);
    }, 0);
