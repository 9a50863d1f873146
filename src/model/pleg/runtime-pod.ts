import type { PodSandboxStatus } from '../../generated/runtime/v1/api.js';
import type { PodRef } from '../pod/pod.js';
import { firstNamed } from '../values/indexed-lists.js';

/** Source: pkg/kubelet/container/runtime.go State, without the names that only Docker has. */
export type RuntimeContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** One line of a listing, as the PLEG compares it. Sandboxes appear with `kind: 'sandbox'`, ready as running, else exited. */
export interface RuntimeItem {
  readonly kind: 'sandbox' | 'container';
  readonly id: string;
  /** Container name; empty for a sandbox. */
  readonly name: string;
  readonly state: RuntimeContainerState;
  /** Unix nanoseconds. */
  readonly createdAt: bigint;
  /** The sandbox that a container belongs to; its own id for a sandbox. */
  readonly sandboxId: string;
  /** Counted from 0 within the pod, and for a container within its name. */
  readonly attempt: number;
}

/** A pod as one listing of the runtime shows it. */
export interface RuntimePod extends PodRef {
  readonly items: readonly RuntimeItem[];
  /** The time of the request of the listing, in the scheduler's milliseconds. */
  readonly observedAt: number;
}

/** One container instance as the runtime reports it, with the values of its annotations. */
export interface RuntimeContainerStatus {
  readonly id: string;
  readonly name: string;
  readonly state: RuntimeContainerState;
  readonly sandboxId: string;
  /** Unix nanoseconds; `startedAt` is 0 before the start, `finishedAt` before the end. */
  readonly createdAt: bigint;
  readonly startedAt: bigint;
  readonly finishedAt: bigint;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  /** The image as the spec names it. */
  readonly image: string;
  /** Digest form; `imageID` of the API status. */
  readonly imageRef: string;
  /** From the annotation `io.kubernetes.container.hash`; empty when absent. */
  readonly hash: string;
  /** From the annotation `io.kubernetes.container.restartCount`. */
  readonly restartCount: number;
  readonly logPath: string;
  /** As the API names it; absent if the runtime does not report it. */
  readonly stopSignal?: string;
  /** The user of its first process; absent if the runtime does not report it. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] };
  readonly annotations: Readonly<Record<string, string>>;
}

/** Everything the runtime knows of one pod. Source: pkg/kubelet/container/runtime.go PodStatus. */
export interface RuntimePodStatus extends PodRef {
  /** The addresses of the newest sandbox; empty unless it is ready. */
  readonly ips: readonly string[];
  /** Higher attempt first, then newer, then smaller id: index 0 is the sandbox of the pod. */
  readonly sandboxes: readonly PodSandboxStatus[];
  /** Over all sandboxes, newest first: the first entry of a name is its newest instance. */
  readonly containers: readonly RuntimeContainerStatus[];
}

export const emptyPodStatus = ({ uid, namespace, name }: PodRef): RuntimePodStatus => ({
  uid,
  namespace,
  name,
  ips: [],
  sandboxes: [],
  containers: [],
});

/** The newest instance of a container, in any state. */
export const newestStatusOf = (status: RuntimePodStatus, containerName: string): RuntimeContainerStatus | undefined =>
  firstNamed(status.containers, containerName);

/** The containers of the newest sandbox while that is ready, else none. */
export const activeContainersOf = (status: RuntimePodStatus): readonly RuntimeContainerStatus[] => {
  const [sandbox] = status.sandboxes;
  if (sandbox?.state !== 'SANDBOX_READY') return [];
  return status.containers.filter(({ sandboxId }) => sandboxId === sandbox.id);
};

export const runningContainersOf = (status: RuntimePodStatus): readonly RuntimeContainerStatus[] =>
  status.containers.filter(({ state }) => state === 'running');

/**
 * The time at which the oldest sandbox or container of the pod was created, in Unix milliseconds; undefined without any. The pod
 * is at least that old, even if the agent is younger.
 */
export const oldestTraceOf = ({ sandboxes, containers }: RuntimePodStatus): number | undefined => {
  const times = [...sandboxes, ...containers].map(({ createdAt }) => createdAt).filter((createdAt) => createdAt > 0n);
  if (times.length === 0) return undefined;
  return Number(times.reduce((oldest, time) => (time < oldest ? time : oldest)) / 1_000_000n);
};

/** Whether the pod has neither a ready sandbox nor a running container. */
export const isQuiet = ({ sandboxes, containers }: RuntimePodStatus): boolean =>
  sandboxes.every(({ state }) => state !== 'SANDBOX_READY') && containers.every(({ state }) => state !== 'running');

/** CRI times are int64 nanoseconds; decisions about waiting are made in milliseconds. */
export const nanosToMillis = (nanos: bigint): number => Number(nanos / 1_000_000n);
