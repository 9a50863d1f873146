import {
  type Container,
  type ContainerKind,
  type ContainerState,
  type ContainerStatus,
  type EphemeralContainer,
  isSidecar,
  type Pod,
} from '../pod/pod.js';
import { withAmounts } from '../pod/allocated-resources.js';
import { type ActuatedAmounts, shownAmounts } from '../resize/actuated.js';
import type { StartFailure } from '../pod-actions/start-failures.js';
import { RESTARTING_ALL_CONTAINERS, shouldRestart } from '../pod-actions/restart-policy.js';
import {
  nanosToMillis,
  newestStatusOf,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../pleg/runtime-pod.js';
import { toTimestamp } from '../values/timestamp.js';
import { allNamed, firstNamed } from '../values/indexed-lists.js';

export interface ContainerStatusesInput {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  /** The status of the pod before, as far as it is known. */
  readonly previous: readonly ContainerStatus[];
  /** The scheme of container ids, such as `containerd`. */
  readonly runtimeName: string;
  /** The reasons why containers could not be started. */
  readonly startFailure: (containerName: string) => StartFailure | undefined;
  readonly isRestartingAll: boolean;
  /** Gate ContainerStopSignals. */
  readonly showsStopSignals?: boolean;
  /** What the instances were given since their creation. */
  readonly actuated: ActuatedAmounts;
}

/**
 * Returns the API statuses of all containers of one kind: init containers in the order of the spec, the others by name.
 * `ready` and `started` are the earlier values; the probes' results override them.
 *
 * Source: pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses.
 */
export const containerStatuses = (kind: ContainerKind, input: ContainerStatusesInput): ContainerStatus[] => {
  let found: boolean | undefined;
  const hasRegular = (): boolean => (found ??= hasRegularContainer(input.pod, input.runtime));
  const statuses = containersOfKind(kind, input.pod).map((container) =>
    withStartFailure(input, kind, container, statusOf(input, container), hasRegular),
  );
  return kind === 'init' ? statuses : statuses.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
};

/** Returns the runtime's id from the API's id. */
export const runtimeContainerId = ({ containerID }: ContainerStatus): string =>
  containerID?.slice(containerID.indexOf('://') + 3) ?? '';

const UNKNOWN_EXIT_CODE = 137;
const LOST_AT_DELETION =
  'The container could not be located when the pod was deleted.  The container used to be Running';
const LOST_AT_TERMINATION = 'The container could not be located when the pod was terminated';
const REMOVED_BY_RESTART = 'The container is removed because RestartAllContainers in place';
const FORGOTTEN_INIT =
  'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally';

const containersOfKind = (kind: ContainerKind, { spec }: Pod): readonly (Container | EphemeralContainer)[] => {
  switch (kind) {
    case 'init':
      return spec.initContainers ?? [];
    case 'regular':
      return spec.containers;
    case 'ephemeral':
      return spec.ephemeralContainers ?? [];
  }
};

const statusOf = (input: ContainerStatusesInput, container: Container): ContainerStatus => {
  const old = firstNamed(input.previous, container.name);
  const [newest, second] = allNamed(input.runtime.containers, container.name);
  if (newest === undefined) return statusWithoutInstance(input, container, old);
  const status = statusOfInstance(input, container, newest, old);
  if (second === undefined) return status;
  return { ...status, lastState: statusOfInstance(input, container, second, old).state };
};

const statusWithoutInstance = (
  { pod, isRestartingAll }: ContainerStatusesInput,
  container: Container,
  old: ContainerStatus | undefined,
): ContainerStatus => {
  const fresh: ContainerStatus = {
    ...base(container),
    imageID: '',
    ready: false,
    restartCount: old?.restartCount ?? 0,
    state: { waiting: { reason: defaultWaitingReason(pod) } },
    lastState: old?.lastState ?? {},
  };
  if (old === undefined || old.state?.waiting) return fresh;
  if (isRestartingAll) {
    const why = { reason: RESTARTING_ALL_CONTAINERS, message: REMOVED_BY_RESTART };
    return {
      ...(old.state?.terminated ? old : fresh),
      restartCount: old.restartCount + 1,
      state: { waiting: why },
      lastState: { terminated: { ...why, exitCode: UNKNOWN_EXIT_CODE } },
    };
  }
  if (old.state?.terminated) return old;
  if (!old.state?.running || old.lastState?.terminated) return fresh;
  return {
    ...fresh,
    restartCount: old.restartCount + (pod.metadata.deletionTimestamp === undefined ? 1 : 0),
    lastState: {
      terminated: { reason: 'ContainerStatusUnknown', message: LOST_AT_DELETION, exitCode: UNKNOWN_EXIT_CODE },
    },
  };
};

const statusOfInstance = (
  { pod, runtimeName, showsStopSignals, isRestartingAll, actuated }: ContainerStatusesInput,
  container: Container,
  instance: RuntimeContainerStatus,
  old: ContainerStatus | undefined,
): ContainerStatus => {
  const containerID = `${runtimeName}://${instance.id}`;
  const oldTerminated = old?.state?.terminated;
  const status: ContainerStatus = {
    ...base(container),
    containerID,
    image: instance.image,
    imageID: instance.imageRef,
    ready: false,
    restartCount: Math.max(old?.restartCount ?? 0, instance.restartCount),
    state: {},
    lastState:
      oldTerminated && old.containerID !== containerID ? { terminated: oldTerminated } : (old?.lastState ?? {}),
    resources:
      instance.state === 'running'
        ? withAmounts(container.resources, shownAmounts(container, instance, actuated))
        : container.resources,
    allocatedResources: container.resources?.requests,
    ...(showsStopSignals && instance.stopSignal !== undefined && { stopSignal: instance.stopSignal }),
    ...(instance.user && { user: { linux: instance.user } }),
  };
  switch (instance.state) {
    case 'running':
      return {
        ...status,
        // Its predecessor was removed together with its restart count.
        restartCount:
          oldTerminated && old.restartCount >= instance.restartCount ? old.restartCount + 1 : status.restartCount,
        state: { running: { startedAt: timestamp(instance.startedAt) } },
        started: old?.containerID === containerID ? old.started : undefined,
      };
    case 'created':
      return { ...status, state: { waiting: { reason: defaultWaitingReason(pod) } } };
    case 'exited':
      return { ...status, state: terminatedState(instance, containerID) };
    case 'unknown':
      return old?.state?.running
        ? {
            ...status,
            restartCount: old.restartCount + 1,
            state: {
              terminated: {
                // A terminated state would make the phase final before the restart is done.
                reason: isRestartingAll ? RESTARTING_ALL_CONTAINERS : 'ContainerStatusUnknown',
                message: LOST_AT_TERMINATION,
                exitCode: UNKNOWN_EXIT_CODE,
              },
            },
          }
        : { ...status, state: { waiting: { reason: defaultWaitingReason(pod) } } };
  }
};

/** The reason of a waiting container without a known one. */
export const defaultWaitingReason = ({ spec }: Pod): string =>
  spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';

/** Adds the reason to a container that could not be started. */
const withStartFailure = (
  { pod, runtime, startFailure }: ContainerStatusesInput,
  kind: ContainerKind,
  container: Container,
  status: ContainerStatus,
  hasRegular: () => boolean,
): ContainerStatus => {
  const newest = newestStatusOf(runtime, container.name);
  if (kind === 'init') {
    if (newest?.state === 'exited' && newest.exitCode === 0) return status;
    if (newest === undefined && status.state?.waiting && !isSidecar(container) && hasRegular()) {
      return {
        ...status,
        state: { terminated: { reason: 'Completed', message: FORGOTTEN_INIT, exitCode: 0 } },
      };
    }
  }
  const failure = willBeStarted(pod, container, newest) ? startFailure(container.name) : undefined;
  if (failure === undefined) return status;
  return {
    ...status,
    state: { waiting: { reason: failure.reason, message: failure.message } },
    lastState: status.state?.terminated ? status.state : status.lastState,
  };
};

const willBeStarted = (pod: Pod, container: Container, newest: RuntimeContainerStatus | undefined): boolean => {
  if (pod.metadata.deletionTimestamp !== undefined || newest?.state === 'running') return false;
  return newest?.state === 'exited' ? shouldRestart(pod, container, newest.exitCode) : true;
};

const hasRegularContainer = (pod: Pod, runtime: RuntimePodStatus): boolean =>
  pod.spec.containers.some(({ name }) => {
    const state = newestStatusOf(runtime, name)?.state;
    return state !== undefined && state !== 'unknown';
  });

/** The mounts of the spec. Source: pkg/kubelet/kubelet_pods.go */
const base = ({ name, image, volumeMounts }: Container) => ({
  name,
  image: image ?? '',
  volumeMounts: volumeMounts?.map(({ name, mountPath, readOnly, recursiveReadOnly }) => ({
    name,
    mountPath,
    readOnly,
    recursiveReadOnly: readOnly ? (recursiveReadOnly === 'Enabled' ? 'Enabled' : 'Disabled') : undefined,
  })),
});

const terminatedState = (instance: RuntimeContainerStatus, containerID: string): ContainerState => ({
  terminated: {
    exitCode: instance.exitCode,
    reason: instance.reason,
    message: instance.message === '' ? undefined : instance.message,
    startedAt: timestamp(instance.startedAt),
    finishedAt: timestamp(instance.finishedAt),
    containerID,
  },
});

/** An event that has not happened has no time. */
const timestamp = (nanos: bigint): string | undefined => (nanos > 0n ? toTimestamp(nanosToMillis(nanos)) : undefined);
