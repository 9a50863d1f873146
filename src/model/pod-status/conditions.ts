import { type ContainerStatus, isSidecar, type Pod, type PodCondition } from '../pod/pod.js';
import { ALL_CONTAINERS_RESTARTING } from '../pod-actions/restart-all.js';
import { hasRestartAllRule } from '../pod-actions/restart-policy.js';
import type { RuntimePodStatus } from '../pleg/runtime-pod.js';
import { sandboxChanged } from '../pod-actions/sandbox-changed.js';
import type { PodPhase } from './pod-phase.js';
import { firstNamed } from '../values/indexed-lists.js';

/** A condition without the time of its last change. */
export type Finding = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

export const RESIZE_PENDING = 'PodResizePending';
export const RESIZE_IN_PROGRESS = 'PodResizeInProgress';

/** Conditions that only this agent writes. Source: pkg/kubelet/types/pod_status.go PodConditionByKubelet. */
export const OWNED_CONDITIONS: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  RESIZE_IN_PROGRESS,
  RESIZE_PENDING,
  'PodReadyToStartContainers',
  ALL_CONTAINERS_RESTARTING,
]);

/** A condition that other writers set too. Source: pkg/kubelet/types/pod_status.go PodConditionSharedByKubelet. */
export const DISRUPTION_TARGET = 'DisruptionTarget';

/** Source: pkg/kubelet/status/generate.go GenerateContainersReadyCondition. */
export const containersReadyCondition = (
  pod: Pod,
  statuses: readonly ContainerStatus[] | undefined,
  phase: PodPhase,
): Finding => {
  const type = 'ContainersReady';
  if (statuses === undefined) return no(type, 'UnknownContainerStatuses');
  const containers = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers];
  const unknown = namesWhere(containers, statuses, (status) => status === undefined);
  const unready = namesWhere(containers, statuses, (status) => status?.ready === false);
  if (phase === 'Succeeded' && unknown.length === 0) return no(type, 'PodCompleted');
  if (phase === 'Failed') return no(type, 'PodFailed');
  const message = listed(['containers with unknown status', unknown], ['containers with unready status', unready]);
  return message === '' ? yes(type) : no(type, 'ContainersNotReady', message);
};

/**
 * Returns Ready: from ContainersReady, and from the conditions of the readiness gates. Source:
 * pkg/kubelet/status/generate.go GeneratePodReadyCondition.
 */
export const readyCondition = (
  pod: Pod,
  containersReady: Finding,
  others: readonly Pick<PodCondition, 'type' | 'status'>[],
): Finding => {
  if (containersReady.status !== 'True') return { ...containersReady, type: 'Ready' };
  // The first condition of a type counts.
  const found = new Map(others.toReversed().map((condition) => [condition.type, condition]));
  const problems = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = found.get(conditionType);
    if (condition === undefined) {
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    }
    return condition.status === 'True'
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  return problems.length === 0 ? yes('Ready') : no('Ready', 'ReadinessGatesNotReady', problems.join(', '));
};

/** Source: pkg/kubelet/status/generate.go GeneratePodInitializedCondition. */
export const initializedCondition = (
  pod: Pod,
  statuses: readonly ContainerStatus[] | undefined,
  phase: PodPhase,
  wasInitialized: boolean,
): Finding => {
  const type = 'Initialized';
  const containers = pod.spec.initContainers ?? [];
  if (statuses === undefined) return containers.length > 0 ? no(type, 'UnknownContainerStatuses') : yes(type);
  const unknown = namesWhere(containers, statuses, (status) => status === undefined);
  const incomplete = namesWhere(containers, statuses, (status, container) =>
    status === undefined ? false : isSidecar(container) ? status.started !== true : !status.ready,
  );
  if (phase === 'Succeeded' && unknown.length === 0) return { ...yes(type), reason: 'PodCompleted' };

  // A sidecar that restarts later does not revoke the initialization.
  const hasStarted = namesWhere(
    pod.spec.containers,
    statuses,
    (status) => status?.state?.running !== undefined || status?.state?.terminated !== undefined,
  );
  if (hasStarted.length > 0) return yes(type);

  const message = listed(
    ['containers with unknown status', unknown],
    ['containers with incomplete status', incomplete],
  );
  return message === '' || wasInitialized ? yes(type) : no(type, 'ContainersNotInitialized', message);
};

/**
 * The pod's sandbox and network exist. Source: pkg/kubelet/status/generate.go
 * GeneratePodReadyToStartContainersCondition.
 */
export const readyToStartContainersCondition = (pod: Pod, runtime: RuntimePodStatus): Finding => {
  const { problem } = sandboxChanged(pod, runtime);
  return problem === undefined ? yes(READY_TO_START) : no(READY_TO_START, 'PodSandboxNotReady', problem);
};

/** The same condition for a pod whose sandbox was created just now. */
export const newSandboxCondition = (): Finding => yes(READY_TO_START);

/** Returned only for pods with such a rule. Source: pkg/kubelet/status/generate.go, KEP 5532. */
export const allContainersRestartingCondition = (
  pod: Pod,
  isRestartingAll: boolean,
  phase: PodPhase,
): Finding | undefined => {
  const type = ALL_CONTAINERS_RESTARTING;
  if (![...(pod.spec.initContainers ?? []), ...pod.spec.containers].some(hasRestartAllRule)) return undefined;
  if (phase === 'Succeeded') return no(type, 'PodCompleted');
  if (phase === 'Failed') return no(type, 'PodFailed');
  return isRestartingAll
    ? {
        ...yes(type),
        reason: 'RestartAllContainersStarted',
        message: 'container exited with restart policy rule',
      }
    : no(type);
};

/** A pod on this node has been scheduled. Source: pkg/kubelet/kubelet_pods.go */
export const scheduledCondition = (): Finding => yes('PodScheduled');

const READY_TO_START = 'PodReadyToStartContainers';

const yes = (type: string): Finding => ({ type, status: 'True' });
const no = (type: string, reason?: string, message?: string): Finding => ({
  type,
  status: 'False',
  ...(reason !== undefined && { reason }),
  ...(message !== undefined && { message }),
});

const namesWhere = <C extends { readonly name: string }>(
  containers: readonly C[],
  statuses: readonly ContainerStatus[],
  holds: (status: ContainerStatus | undefined, container: C) => boolean,
): readonly string[] =>
  containers.filter((container) => holds(firstNamed(statuses, container.name), container)).map(({ name }) => name);

/** Formats names as Go prints a list. */
const listed = (...parts: readonly (readonly [text: string, names: readonly string[]])[]): string =>
  parts
    .filter(([, names]) => names.length > 0)
    .map(([text, names]) => `${text}: [${names.join(' ')}]`)
    .join(', ');
