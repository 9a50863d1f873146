import type { PodRef } from '../pod/pod.js';
import { formatGoDuration } from '../values/go-duration.js';
import type { RuntimeContainerState, RuntimeItem, RuntimePodStatus } from './runtime-pod.js';
import { firstWithId } from '../values/indexed-lists.js';

/** The state of a container as the PLEG compares it. Source: pkg/kubelet/pleg/generic.go plegContainerState. */
export type PlegState = 'running' | 'exited' | 'unknown' | 'non-existent';

/** Source: pkg/kubelet/pleg/pleg.go PodLifeCycleEventType. `ContainerChanged` changes the cache and is never emitted. */
export type PlegEventType = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'ContainerChanged' | 'PodSync';

/** A difference between two reads of a pod. */
export interface PlegChange {
  readonly type: Exclude<PlegEventType, 'PodSync'>;
  /** The item as it is now; the previous one if it is gone. */
  readonly item: RuntimeItem;
  readonly state: PlegState;
}

/** An event of the runtime for the sync loop. */
export interface PlegEvent {
  readonly pod: PodRef;
  readonly type: Exclude<PlegEventType, 'ContainerChanged'>;
  /** The id of the container or sandbox; empty for a `PodSync`. */
  readonly id: string;
  /** Name of the container; absent for a sandbox and a `PodSync`. */
  readonly container?: string;
  /** The exit code of a container that died while the runtime still knows it. */
  readonly exitCode?: number;
  /** The reason of that end in the status of the runtime. */
  readonly reason?: string;
  /** The message of the runtime and the termination message of the container. */
  readonly message?: string;
  /** The time of its start or end by the clock of the runtime; Unix milliseconds. May be long before the read. */
  readonly happenedAt?: number;
  /** The state of the container or sandbox now; absent for a `PodSync`. */
  readonly state?: PlegState;
}

/** The times of relists. Milliseconds. */
export interface PlegCadence {
  /** From the end of one listing to the next. */
  readonly periodMs: number;
  /** The greatest age of the last relist of a healthy node. */
  readonly thresholdMs: number;
  /** The period after which a pod without events counts as read; absent if only relists count. */
  readonly cacheTickMs?: number;
}

/** The cadence without events of the runtime. Source: pkg/kubelet/kubelet.go genericPlegRelistPeriod, genericPlegRelistThreshold. */
export const GENERIC_PLEG: PlegCadence = { periodMs: 1_000, thresholdMs: 180_000 };

/** The cadence while the stream of the runtime's events is open. Source: pkg/kubelet/kubelet.go eventedPlegRelistPeriod, pkg/kubelet/pleg/evented.go globalCacheUpdatePeriod. */
export const EVENTED_PLEG: PlegCadence = { periodMs: 300_000, thresholdMs: 600_000, cacheTickMs: 5_000 };

type Transition = readonly PlegChange['type'][];
const NOTHING: Transition = [];

/** The changes by old state and new state. Source: pkg/kubelet/pleg/generic.go generateEvents. */
const PLEG_TRANSITIONS: Readonly<Record<PlegState, Readonly<Record<PlegState, Transition>>>> = {
  'non-existent': {
    running: ['ContainerStarted'],
    exited: ['ContainerDied'],
    unknown: ['ContainerChanged'],
    'non-existent': NOTHING,
  },
  running: {
    running: NOTHING,
    exited: ['ContainerDied'],
    unknown: ['ContainerChanged'],
    'non-existent': ['ContainerDied', 'ContainerRemoved'],
  },
  exited: {
    running: ['ContainerStarted'],
    exited: NOTHING,
    unknown: ['ContainerChanged'],
    'non-existent': ['ContainerRemoved'],
  },
  unknown: {
    running: ['ContainerStarted'],
    exited: ['ContainerDied'],
    unknown: NOTHING,
    'non-existent': ['ContainerDied', 'ContainerRemoved'],
  },
};

/** A created container counts as unknown. */
export const plegState = (state: RuntimeContainerState): PlegState => (state === 'created' ? 'unknown' : state);

/** The items of one read of a pod, by id. */
export type PlegRecord = ReadonlyMap<string, RuntimeItem>;

export const NO_ITEMS: PlegRecord = new Map();

/** The changes between two reads: first those of the old items in their order, then those of the new items. */
export const plegChanges = (old: PlegRecord, now: PlegRecord): readonly PlegChange[] => {
  const changes: PlegChange[] = [];
  const compare = (before: RuntimeItem | undefined, after: RuntimeItem | undefined): void => {
    const item = after ?? before;
    if (!item) return;
    const state = after ? plegState(after.state) : 'non-existent';
    for (const type of PLEG_TRANSITIONS[before ? plegState(before.state) : 'non-existent'][state]) {
      changes.push({ type, item, state });
    }
  };
  for (const [id, before] of old) compare(before, now.get(id));
  for (const [id, after] of now) if (!old.has(id)) compare(undefined, after);
  return changes;
};

/** Whether a listing shows the pod as recorded. Called for each pod on each relist, so it allocates nothing. */
export const showsNoChange = (record: PlegRecord, items: readonly RuntimeItem[]): boolean => {
  if (items.length !== record.size) return false;
  for (const { id, state } of items) {
    const before = record.get(id);
    if (!before || plegState(before.state) !== plegState(state)) return false;
  }
  return true;
};

/** The items of a status, as a listing shows them. */
export const recordOf = ({ sandboxes, containers }: RuntimePodStatus): PlegRecord => {
  const record = new Map<string, RuntimeItem>();
  for (const { id, metadata, state, createdAt } of sandboxes) {
    record.set(id, {
      kind: 'sandbox',
      id,
      name: '',
      state: state === 'SANDBOX_READY' ? 'running' : 'exited',
      createdAt,
      sandboxId: id,
      attempt: metadata?.attempt ?? 0,
    });
  }
  for (const { id, name, state, createdAt, sandboxId, restartCount } of containers) {
    record.set(id, { kind: 'container', id, name, state, createdAt, sandboxId, attempt: restartCount });
  }
  return record;
};

/** The events of these changes. `status` holds the exit codes of containers that died. */
export const plegEvents = (
  pod: PodRef,
  changes: readonly PlegChange[],
  status?: RuntimePodStatus,
): readonly PlegEvent[] =>
  changes.flatMap(({ type, item: { kind, id, name }, state }) => {
    if (type === 'ContainerChanged') return [];
    const reported = kind === 'container' ? firstWithId(status?.containers ?? [], id) : undefined;
    const ended = type === 'ContainerDied' && state === 'exited' ? reported : undefined;
    const happenedAt = ended ? ended.finishedAt : type === 'ContainerStarted' ? reported?.startedAt : undefined;
    return {
      pod,
      type,
      id,
      state,
      ...(kind === 'container' ? { container: name } : {}),
      ...(ended && { exitCode: ended.exitCode }),
      ...(ended?.reason && { reason: ended.reason }),
      ...(ended?.message && { message: ended.message }),
      ...(happenedAt !== undefined && happenedAt > 0n && { happenedAt: Number(happenedAt / 1_000_000n) }),
    };
  });

/**
 * Keeps the addresses of a pod whose sandboxes are all down, so that its status still has them.
 * Source: pkg/kubelet/pleg/generic.go getPodIPs.
 */
export const preserveIps = (status: RuntimePodStatus, cached: RuntimePodStatus | undefined): RuntimePodStatus => {
  if (status.ips.length > 0 || !cached || cached.ips.length === 0) return status;
  const isReady = status.sandboxes.some(({ state }) => state === 'SANDBOX_READY');
  return isReady ? status : { ...status, ips: cached.ips };
};

export type PlegHealth = { readonly healthy: true } | { readonly healthy: false; readonly problem: string };

/**
 * Whether relists still succeed. Times are Unix milliseconds; `lastRelistAt` is the time of the request of the last successful one.
 * Source: pkg/kubelet/pleg/generic.go Healthy.
 */
export const plegHealth = (lastRelistAt: number | undefined, now: number, thresholdMs: number): PlegHealth => {
  if (lastRelistAt === undefined) return { healthy: false, problem: 'pleg has yet to be successful' };
  const elapsedMs = now - lastRelistAt;
  if (elapsedMs <= thresholdMs) return { healthy: true };
  const problem = `pleg was last seen active ${formatGoDuration(elapsedMs)} ago; threshold is ${formatGoDuration(thresholdMs)}`;
  return { healthy: false, problem };
};

/** The values of the gauges `running_pods` and `running_containers`. Source: pkg/kubelet/pleg/generic.go. */
export const countRunning = (
  pods: Iterable<{ readonly items: Iterable<Pick<RuntimeItem, 'kind' | 'state'>> }>,
): { readonly pods: number; readonly containers: Readonly<Partial<Record<RuntimeContainerState, number>>> } => {
  const containers: Partial<Record<RuntimeContainerState, number>> = {};
  let running = 0;
  for (const { items } of pods) {
    let isRunning = false;
    for (const { kind, state } of items) {
      if (kind === 'container') containers[state] = (containers[state] ?? 0) + 1;
      else if (state === 'running') isRunning = true;
    }
    if (isRunning) running += 1;
  }
  return { pods: running, containers };
};
