import type {
  Container,
  ContainerState,
  ContainerStatus,
  PodSandbox,
  PodSandboxState,
  PodSandboxStatus,
} from '../../generated/runtime/v1/api.js';
import { isIpAddress } from '../values/ip-address.js';
import type { PodRef } from '../pod/pod.js';
import type {
  RuntimeContainerState,
  RuntimeContainerStatus,
  RuntimeItem,
  RuntimePod,
  RuntimePodStatus,
} from '../pleg/runtime-pod.js';
import { stopSignalName } from '../manifest/stop-signals.js';
import { CONTAINER_HASH, POD_NAME, POD_NAMESPACE, POD_UID, RESTART_COUNT } from './labels.js';

/** Source: pkg/kubelet/kuberuntime/helpers.go toKubeContainerState. */
export const runtimeContainerState = (state: ContainerState): RuntimeContainerState => {
  switch (state) {
    case 'CONTAINER_CREATED':
      return 'created';
    case 'CONTAINER_RUNNING':
      return 'running';
    case 'CONTAINER_EXITED':
      return 'exited';
    default:
      return 'unknown';
  }
};

/** A sandbox counts as a running container while it is ready. Source: pkg/kubelet/kuberuntime/helpers.go. */
export const runtimeSandboxState = (state: PodSandboxState): RuntimeContainerState =>
  state === 'SANDBOX_READY' ? 'running' : 'exited';

/**
 * Groups one listing by the uid label, the pod with the newest item first. Items without the label belong to no pod. A
 * container without its sandbox still produces its pod. Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go GetPods.
 */
export const toRuntimePods = (
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
  observedAt: number,
): readonly RuntimePod[] => {
  const pods = new Map<string, { pod: RuntimePod; items: RuntimeItem[]; newest: bigint }>();
  const add = (labels: Readonly<Record<string, string>>, item: RuntimeItem): void => {
    const uid = labels[POD_UID];
    if (!uid) return;
    const known = pods.get(uid);
    if (known) {
      known.items.push(item);
      if (item.createdAt > known.newest) known.newest = item.createdAt;
      return;
    }
    const items = [item];
    const pod = { ...podRefOfLabels(labels, uid), items, observedAt };
    pods.set(uid, { pod, items, newest: item.createdAt });
  };
  for (const { id, labels, metadata, state, createdAt } of sandboxes) {
    add(labels, {
      kind: 'sandbox',
      id,
      name: '',
      state: runtimeSandboxState(state),
      createdAt,
      sandboxId: id,
      attempt: metadata?.attempt ?? 0,
    });
  }
  for (const { id, labels, metadata, state, createdAt, podSandboxId } of containers) {
    const name = metadata?.name ?? '';
    add(labels, {
      kind: 'container',
      id,
      name,
      state: runtimeContainerState(state),
      createdAt,
      sandboxId: podSandboxId,
      attempt: metadata?.attempt ?? 0,
    });
  }
  return [...pods.values()].sort((a, b) => compareBigints(b.newest, a.newest)).map(({ pod }) => pod);
};

/** The pod of a sandbox or container, as far as its labels name it. */
export const podRefOfLabels = (labels: Readonly<Record<string, string>>, uid: string): PodRef => ({
  uid,
  namespace: labels[POD_NAMESPACE] ?? '',
  name: labels[POD_NAME] ?? '',
});

/** The selector by which the runtime lists the items of one pod. */
export const podLabelSelector = (uid: string): { readonly [label: string]: string } => ({ [POD_UID]: uid });

/** The selector of every item with the name of one pod. */
export const podNameSelector = ({
  name,
  namespace,
}: Pick<PodRef, 'name' | 'namespace'>): { readonly [label: string]: string } => ({
  [POD_NAME]: name,
  [POD_NAMESPACE]: namespace,
});

/**
 * Sorts the inspected sandboxes and containers of one pod in the order in which decisions read them, and takes the
 * pod's IPs from the newest sandbox. Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go GetPodStatus.
 */
export const toRuntimePodStatus = (
  { uid, namespace, name }: PodRef,
  sandboxStatuses: readonly PodSandboxStatus[],
  containers: readonly { readonly status: ContainerStatus; readonly sandboxId: string }[],
): RuntimePodStatus => {
  const sandboxes = [...sandboxStatuses].sort(compareSandboxes);
  return {
    uid,
    namespace,
    name,
    ips: sandboxIps(sandboxes[0]),
    sandboxes,
    containers: newestFirst(containers.map(({ status, sandboxId }) => toRuntimeContainerStatus(status, sandboxId))),
  };
};

/** An item of a pod that ran at the last read. */
export type RanItem = Pick<RuntimeItem, 'kind' | 'id' | 'sandboxId'>;

/**
 * Returns the items that ran and are in neither list: an incomplete listing would lead to a second start of their containers, so these are
 * read by their id.
 */
export const leftOutOf = (
  ran: readonly RanItem[],
  sandboxes: readonly Pick<PodSandbox, 'id'>[],
  containers: readonly Pick<Container, 'id'>[],
): { readonly sandboxes: readonly RanItem[]; readonly containers: readonly RanItem[] } => {
  const listed = new Set([...sandboxes, ...containers].map(({ id }) => id));
  const leftOut = ran.filter(({ id }) => !listed.has(id));
  return {
    sandboxes: leftOut.filter(({ kind }) => kind === 'sandbox'),
    containers: leftOut.filter(({ kind }) => kind === 'container'),
  };
};

/** Returns the UIDs of the pods of these sandboxes, each once; a sandbox without the label belongs to no pod. */
export const podUidsIn = (sandboxes: readonly Pick<PodSandbox, 'labels'>[]): readonly string[] => [
  ...new Set(sandboxes.flatMap(({ labels }) => labels[POD_UID] ?? [])),
];

/**
 * Sorts by the time of creation. Among containers of one name, the one with more restarts is newer (among
 * sandboxes, the one with more attempts), since the clock of the node may have been set back in between. Source:
 * pkg/kubelet/kuberuntime/helpers.go containerStatusByCreated.
 */
const newestFirst = (containers: readonly RuntimeContainerStatus[]): readonly RuntimeContainerStatus[] => {
  const byTime = [...containers].sort((a, b) => compareBigints(b.createdAt, a.createdAt));
  const ofName = new Map<string, RuntimeContainerStatus[]>();
  let isInOrder = true;
  for (const container of byTime) {
    const known = ofName.get(container.name);
    if (!known) ofName.set(container.name, [container]);
    else {
      isInOrder &&= known.at(-1)!.restartCount >= container.restartCount;
      known.push(container);
    }
  }
  if (isInOrder) return byTime;
  for (const known of ofName.values()) known.sort((a, b) => b.restartCount - a.restartCount);
  return byTime.map(({ name }) => ofName.get(name)!.shift()!);
};

/** Missing annotations read as empty and 0. */
const toRuntimeContainerStatus = (status: ContainerStatus, sandboxId: string): RuntimeContainerStatus => {
  const { id, metadata, state, createdAt, startedAt, finishedAt, exitCode, reason, message } = status;
  const { image, imageRef, logPath, annotations } = status;
  const stopSignal = stopSignalName(status.stopSignal);
  const user = status.user?.linux;
  const restartCount = Number.parseInt(annotations[RESTART_COUNT] ?? '', 10);
  return {
    id,
    name: metadata?.name ?? '',
    state: runtimeContainerState(state),
    sandboxId,
    createdAt,
    startedAt,
    finishedAt,
    exitCode,
    reason,
    message,
    image: image?.image ?? '',
    imageRef,
    hash: annotations[CONTAINER_HASH] ?? '',
    restartCount: Number.isNaN(restartCount) ? 0 : restartCount,
    logPath,
    ...(stopSignal !== undefined && { stopSignal }),
    ...(user && {
      user: { uid: Number(user.uid), gid: Number(user.gid), supplementalGroups: user.supplementalGroups.map(Number) },
    }),
    annotations,
  };
};

/**
 * Sorts by the higher attempt, then the newer one, then the smaller id. Source: pkg/kubelet/kuberuntime/helpers.go
 * podSandboxByCreated.
 */
const compareSandboxes = (a: PodSandboxStatus, b: PodSandboxStatus): number =>
  (b.metadata?.attempt ?? 0) - (a.metadata?.attempt ?? 0) ||
  compareBigints(b.createdAt, a.createdAt) ||
  (a.id < b.id ? -1 : 1);

/** The addresses of a sandbox while it is ready. An invalid address discards all of them. */
export const sandboxIps = (sandbox: PodSandboxStatus | undefined): readonly string[] => {
  if (sandbox?.state !== 'SANDBOX_READY' || !sandbox.network) return [];
  const { ip, additionalIps } = sandbox.network;
  const ips = [...(ip === '' ? [] : [ip]), ...additionalIps.map((additional) => additional.ip)];
  return ips.every(isIpAddress) ? ips : [];
};

const compareBigints = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
