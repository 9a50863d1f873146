import type { PodRef } from './pod.js';
import type { RuntimeContainerState, RuntimeItem, RuntimePodStatus } from './runtime-pod.js';

/** How two looks at one container can differ. Source: pkg/kubelet/pleg/generic.go plegContainerState. */
export type PlegState = 'running' | 'exited' | 'unknown' | 'non-existent';

/** Source: pkg/kubelet/pleg/pleg.go PodLifeCycleEventType. `ContainerChanged` is for the cache only and never delivered. */
export type PlegEventType = 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'ContainerChanged' | 'PodSync';

/** A difference between two looks at a pod. */
export interface PlegChange {
  readonly type: Exclude<PlegEventType, 'PodSync'>;
  /** What the item is now; for one that is gone, what it was. */
  readonly item: RuntimeItem;
  readonly state: PlegState;
}

/** What the sync loop hears of the runtime. */
export interface PlegEvent {
  readonly pod: PodRef;
  readonly type: Exclude<PlegEventType, 'ContainerChanged'>;
  /** Of the container or sandbox; empty for a `PodSync`. */
  readonly id: string;
  /** Name of the container; absent for a sandbox and a `PodSync`. */
  readonly container?: string;
  /** Of a container that died while the runtime still knows it. */
  readonly exitCode?: number;
  /** Why that container ended, as the runtime says it. */
  readonly reason?: string;
  /** What the runtime and the container itself say of that end. */
  readonly message?: string;
  /** What the container or sandbox is now; absent for a `PodSync`. */
  readonly state?: PlegState;
}

/** How often everything is listed, and what that says. Milliseconds. */
export interface PlegCadence {
  /** From the end of one listing to the next. */
  readonly periodMs: number;
  /** Without a listing for longer than this the node is not healthy. */
  readonly thresholdMs: number;
  /** So often every pod of which nothing was heard counts as looked at; absent where only listings say so. */
  readonly cacheTickMs?: number;
}

/** Where relists alone tell what happens. Source: pkg/kubelet/kubelet.go genericPlegRelistPeriod, genericPlegRelistThreshold. */
export const GENERIC_PLEG: PlegCadence = { periodMs: 1_000, thresholdMs: 180_000 };

/** While events tell it. Source: pkg/kubelet/kubelet.go eventedPlegRelistPeriod, pkg/kubelet/pleg/evented.go globalCacheUpdatePeriod. */
export const EVENTED_PLEG: PlegCadence = { periodMs: 300_000, thresholdMs: 600_000, cacheTickMs: 5_000 };

type Transition = readonly PlegChange['type'][];
const NOTHING: Transition = [];

/** Old state, then new state. Source: pkg/kubelet/pleg/generic.go generateEvents. */
export const PLEG_TRANSITIONS: Readonly<Record<PlegState, Readonly<Record<PlegState, Transition>>>> = {
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

/** A container that is only created is as good as unknown. */
export const plegState = (state: RuntimeContainerState): PlegState => (state === 'created' ? 'unknown' : state);

/** The items of one look at a pod, by id. */
export type PlegRecord = ReadonlyMap<string, RuntimeItem>;

export const NO_ITEMS: PlegRecord = new Map();

/** What happened between two looks: first to the items of the old one in their order, then to the new ones in theirs. */
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

/** Whether a listing shows the pod as recorded. Asked of every pod on every relist, so it allocates nothing. */
export const showsNoChange = (record: PlegRecord, items: readonly RuntimeItem[]): boolean => {
  if (items.length !== record.size) return false;
  for (const { id, state } of items) {
    const before = record.get(id);
    if (!before || plegState(before.state) !== plegState(state)) return false;
  }
  return true;
};

/** What a listing would have shown of the pod when its status was read. */
export const recordOf = ({ sandboxes, containers }: RuntimePodStatus): PlegRecord => {
  const record = new Map<string, RuntimeItem>();
  for (const { id, state, createdAt } of sandboxes) {
    record.set(id, {
      kind: 'sandbox',
      id,
      name: '',
      state: state === 'SANDBOX_READY' ? 'running' : 'exited',
      createdAt,
      sandboxId: id,
    });
  }
  for (const { id, name, state, createdAt, sandboxId } of containers) {
    record.set(id, { kind: 'container', id, name, state, createdAt, sandboxId });
  }
  return record;
};

/** What the loop hears of these changes; `status` tells how a container that died ended. */
export const plegEvents = (
  pod: PodRef,
  changes: readonly PlegChange[],
  status?: RuntimePodStatus,
): readonly PlegEvent[] =>
  changes.flatMap(({ type, item: { kind, id, name }, state }) => {
    if (type === 'ContainerChanged') return [];
    const ended =
      type === 'ContainerDied' && state === 'exited'
        ? status?.containers.find((container) => container.id === id)
        : undefined;
    return {
      pod,
      type,
      id,
      state,
      ...(kind === 'container' ? { container: name } : {}),
      ...(ended && { exitCode: ended.exitCode }),
      ...(ended?.reason && { reason: ended.reason }),
      ...(ended?.message && { message: ended.message }),
    };
  });

/**
 * Keeps the addresses of a pod whose sandboxes are all down, so that its status can still say where it was.
 * Source: pkg/kubelet/pleg/generic.go getPodIPs.
 */
export const preserveIps = (status: RuntimePodStatus, cached: RuntimePodStatus | undefined): RuntimePodStatus => {
  if (status.ips.length > 0 || !cached || cached.ips.length === 0) return status;
  const isReady = status.sandboxes.some(({ state }) => state === 'SANDBOX_READY');
  return isReady ? status : { ...status, ips: cached.ips };
};

export type PlegHealth = { readonly healthy: true } | { readonly healthy: false; readonly problem: string };

/**
 * Whether relists still succeed. Times are Unix milliseconds; `lastRelistAt` is when the last successful one began.
 * Source: pkg/kubelet/pleg/generic.go Healthy.
 */
export const plegHealth = (lastRelistAt: number | undefined, now: number, thresholdMs: number): PlegHealth => {
  if (lastRelistAt === undefined) return { healthy: false, problem: 'pleg has yet to be successful' };
  const elapsedMs = now - lastRelistAt;
  if (elapsedMs <= thresholdMs) return { healthy: true };
  const problem = `pleg was last seen active ${goDuration(elapsedMs)} ago; threshold is ${goDuration(thresholdMs)}`;
  return { healthy: false, problem };
};

/** What the gauges `running_pods` and `running_containers` say of one listing. Source: pkg/kubelet/pleg/generic.go. */
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

/** Milliseconds as Go prints a duration: `3m0.5s`. */
const goDuration = (ms: number): string => {
  if (ms === 0) return '0s';
  if (ms < 1_000) return `${ms}ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = `${(ms % 60_000) / 1_000}s`;
  if (minutes === 0) return seconds;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes}m${seconds}` : `${hours}h${minutes % 60}m${seconds}`;
};
