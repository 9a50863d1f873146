import type { PodSandboxStatus } from '../generated/runtime/v1/api.js';
import type { PodRef } from './pod.js';

/** Source: pkg/kubelet/container/runtime.go State, without the names that only Docker had. */
export type RuntimeContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** One line of a listing: what PLEG compares. Sandboxes appear with `kind: 'sandbox'`, ready as running, else exited. */
export interface RuntimeItem {
  readonly kind: 'sandbox' | 'container';
  readonly id: string;
  /** Container name; empty for a sandbox. */
  readonly name: string;
  readonly state: RuntimeContainerState;
  /** Unix nanoseconds. */
  readonly createdAt: bigint;
  /** Of the sandbox that a container belongs to; its own id for a sandbox. */
  readonly sandboxId: string;
}

/** A pod as one listing of the runtime shows it. */
export interface RuntimePod extends PodRef {
  readonly items: readonly RuntimeItem[];
  /** When the listing was asked for, in the scheduler's milliseconds. */
  readonly observedAt: number;
}

/** One container instance as the runtime reports it, with what its annotations say. */
export interface RuntimeContainerStatus {
  readonly id: string;
  readonly name: string;
  readonly state: RuntimeContainerState;
  readonly sandboxId: string;
  /** Unix nanoseconds; 0 when it has not happened. */
  readonly createdAt: bigint;
  readonly startedAt: bigint;
  readonly finishedAt: bigint;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  /** Image as the spec names it. */
  readonly image: string;
  /** Digest form; `imageID` of the API status. */
  readonly imageRef: string;
  /** From the annotation `io.kubernetes.container.hash`; empty when absent. */
  readonly hash: string;
  /** From the annotation `io.kubernetes.container.restartCount`. */
  readonly restartCount: number;
  readonly logPath: string;
  /** As the API names it; absent when the runtime does not say. */
  readonly stopSignal?: string;
  /** As whom its first process was started; absent when the runtime does not say. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] };
  readonly annotations: Readonly<Record<string, string>>;
}

/** Everything the runtime knows of one pod. Source: pkg/kubelet/container/runtime.go PodStatus. */
export interface RuntimePodStatus extends PodRef {
  /** Of the newest sandbox, and only while that is ready. */
  readonly ips: readonly string[];
  /** Higher attempt first, then newer, then smaller id: index 0 is the sandbox that counts. */
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

/** The newest instance of a container, whatever its state. */
export const newestStatusOf = (status: RuntimePodStatus, containerName: string): RuntimeContainerStatus | undefined =>
  status.containers.find(({ name }) => name === containerName);

/** The containers of the newest sandbox while that is ready, else none. */
export const activeContainersOf = (status: RuntimePodStatus): readonly RuntimeContainerStatus[] => {
  const [sandbox] = status.sandboxes;
  if (sandbox?.state !== 'SANDBOX_READY') return [];
  return status.containers.filter(({ sandboxId }) => sandboxId === sandbox.id);
};

export const runningContainersOf = (status: RuntimePodStatus): readonly RuntimeContainerStatus[] =>
  status.containers.filter(({ state }) => state === 'running');

/** Neither a ready sandbox nor a running container. */
export const isQuiet = ({ sandboxes, containers }: RuntimePodStatus): boolean =>
  sandboxes.every(({ state }) => state !== 'SANDBOX_READY') && containers.every(({ state }) => state !== 'running');

/** CRI times are int64 nanoseconds; decisions about waiting are made in milliseconds. */
export const nanosToMillis = (nanos: bigint): number => Number(nanos / 1_000_000n);
