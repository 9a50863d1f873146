import { DEADLINE_EXCEEDED, isPastActiveDeadline } from '../pod/active-deadline.js';
import type { CgroupResources } from '../cgroups/cgroup-resources.js';
import { isIpv4 } from '../values/ip-address.js';
import {
  type ContainerStatus,
  isSidecar,
  isTerminalPhase,
  type Pod,
  type PodCondition,
  type PodStatus,
} from '../pod/pod.js';
import type { StartFailure } from '../pod-actions/start-failures.js';
import { ALL_CONTAINERS_RESTARTING, isResetDone, isRestartingAll } from '../pod-actions/restart-all.js';
import { activeContainersOf, type RuntimePodStatus } from '../pleg/runtime-pod.js';
import { toTimestamp } from '../values/timestamp.js';
import {
  allContainersRestartingCondition,
  containersReadyCondition,
  DISRUPTION_TARGET,
  type Finding,
  initializedCondition,
  newSandboxCondition,
  OWNED_CONDITIONS,
  readyCondition,
  readyToStartContainersCondition,
  scheduledCondition,
} from './conditions.js';
import { type ActuatedAmounts, NOT_RESIZED } from '../resize/actuated.js';
import { resizeConditions, type ShownResize } from '../resize/resize-conditions.js';
import { containerStatuses, runtimeContainerId } from './container-statuses.js';
import { podLevelResources } from './pod-level-resources.js';
import { type PodPhase, podPhase } from './pod-phase.js';
import { qosClass } from './qos.js';
import { firstNamed } from '../values/indexed-lists.js';

export interface PodStatusInput {
  /** The pod; its `status` is the one from its source. */
  readonly pod: Pod;
  /** The resize of the pod, if one waits or is in progress. */
  readonly resize?: ShownResize | undefined;
  /** What its instances were given since their creation. */
  readonly actuated?: ActuatedAmounts | undefined;
  readonly runtime: RuntimePodStatus;
  /** The newest status from this agent. */
  readonly previous?: PodStatus | undefined;
  /** The API's status of a static pod, from its mirror pod: an agent that was restarted continues from it. */
  readonly reported?: PodStatus | undefined;
  /** The pod has got a sandbox and a network since `runtime` was read. */
  readonly hasNewSandbox?: boolean;
  /** The pod is terminating and none of its containers runs any more. */
  readonly podIsTerminal: boolean;
  /** Unix milliseconds. */
  readonly now: number;
  /** The milliseconds for which the pod has been on this node; undefined before it has started, or without a deadline. */
  readonly activeMs?: number | undefined;
  /** The scheme of container ids, such as `containerd`. */
  readonly runtimeName: string;
  /** The reasons why containers could not be started. */
  readonly startFailure?: (containerName: string) => StartFailure | undefined;
  /**
   * The startup probes' result of a running instance; `undefined` without a probe, which counts as a success. Its
   * status has the earlier value in `started`.
   */
  readonly hasStarted?: (containerId: string, status: ContainerStatus) => boolean | undefined;
  /** The readiness probes' result of a running and started instance; `undefined` without a probe. */
  readonly isReady?: (containerId: string, status: ContainerStatus) => boolean | undefined;
  /** Gate ContainerStopSignals. */
  readonly showsStopSignals?: boolean;
  /** The resources of the pod's cgroup; undefined if the agent creates none. */
  readonly podCgroup?: CgroupResources | undefined;
  /** The pod with the amounts that it has, while a resize is in progress; the same as `pod` unless given. */
  readonly has?: Pod;
  /** The addresses of the node, internal ones first; empty while none is known. */
  readonly hostIps?: readonly string[];
}

/**
 * Returns the status of a pod, from its spec, the state of the runtime and the status before. A terminal phase never
 * changes again; the start time never changes; the time of a condition changes only with its status.
 *
 * Source: pkg/kubelet/kubelet_pods.go generateAPIPodStatus, and updateStatusInternal of
 * pkg/kubelet/status/status_manager.go for times and sizes.
 */
export const generatePodStatus = (input: PodStatusInput): PodStatus => {
  const { pod, runtime, previous, now, hostIps = [] } = input;
  const old = previous ?? pod.status;
  if (old && neverStarted(old, runtime)) return old;
  const isRestarting = isRestartingAll(pod, runtime, old);

  const conversion = {
    pod,
    runtime,
    runtimeName: input.runtimeName,
    startFailure: input.startFailure ?? (() => undefined),
    isRestartingAll: isRestarting,
    showsStopSignals: input.showsStopSignals ?? false,
    actuated: input.actuated ?? NOT_RESIZED,
  };
  const regular = containerStatuses('regular', { ...conversion, previous: old?.containerStatuses ?? [] });
  const init = containerStatuses('init', { ...conversion, previous: old?.initContainerStatuses ?? [] });
  const ephemeral = containerStatuses('ephemeral', { ...conversion, previous: old?.ephemeralContainerStatuses ?? [] });

  const { phase, reason, message } = verdict(input, [...init, ...regular]);
  const startTime = (previous ?? input.reported ?? pod.status)?.startTime ?? toTimestamp(now);

  const probed = (status: ContainerStatus): ContainerStatus => withProbes(input, status);
  const regularStatuses = regular.map(probed);
  const initStatuses = init.map((status) => {
    const container = firstNamed(pod.spec.initContainers ?? [], status.name);
    if (container && isSidecar(container)) return probed(status);
    return { ...probed(status), ready: status.state?.terminated?.exitCode === 0 };
  });

  const cut = cutMessages(regular.length + init.length + ephemeral.length);
  const podIps = podIpsOf(input);
  const observedGeneration = Math.max(old?.observedGeneration ?? 0, pod.metadata.generation ?? 0);
  return {
    ...(observedGeneration > 0 && { observedGeneration }),
    phase,
    conditions: conditionsOf(
      input,
      old,
      [...initStatuses, ...regularStatuses],
      phase,
      isRestarting && !isResetDone(pod, runtime),
    ),
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
    ...(hostIps[0] !== undefined && { hostIP: hostIps[0], hostIPs: onePerFamily(hostIps).map((ip) => ({ ip })) }),
    ...(podIps[0] !== undefined && { podIP: podIps[0], podIPs: podIps.map((ip) => ({ ip })) }),
    startTime,
    ...(initStatuses.length > 0 && { initContainerStatuses: initStatuses.map(cut) }),
    containerStatuses: regularStatuses.map(cut),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral.map(cut) }),
    qosClass: qosClass(pod),
    ...podLevelResources(pod, old, input.podCgroup, input.has),
  };
};

/**
 * The pod was rejected, since no other pod ends without container statuses; so it gets none now either. The kubelet
 * adds statuses of lost containers, which hide the reason.
 */
const neverStarted = (
  { phase, containerStatuses = [] }: PodStatus,
  { containers, sandboxes }: RuntimePodStatus,
): boolean =>
  isTerminalPhase(phase) && containerStatuses.length === 0 && containers.length === 0 && sandboxes.length === 0;

interface Verdict {
  readonly phase: PodPhase;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

const verdict = (input: PodStatusInput, statuses: readonly ContainerStatus[]): Verdict => {
  const { pod, runtime, previous, podIsTerminal, activeMs } = input;
  const regularNames = new Set(pod.spec.containers.map(({ name }) => name));
  const computed = podPhase({
    pod,
    statuses,
    podIsTerminal,
    podHasInitialized: activeContainersOf(runtime).some(({ name }) => regularNames.has(name)),
  });
  const before = previous ?? pod.status;
  const ended = [previous?.phase, pod.status?.phase].find(isTerminalPhase) as PodPhase | undefined;
  // The end of its containers does not change the reason why they were stopped.
  const phase = ended ?? computed;
  const kept =
    phase === before?.phase
      ? {
          reason: before.reason ?? pod.status?.reason,
          message: before.message ?? pod.status?.message,
        }
      : {};

  // The deadline also applies to a pod that has ended by itself in this sync.
  const late = ended === undefined && isPastActiveDeadline(pod, activeMs);
  const decided: Verdict = late ? { phase: 'Failed', ...DEADLINE_EXCEEDED } : { phase, ...kept };
  // An end that the API has received is never revoked.
  return isTerminalPhase(pod.status?.phase) ? { ...decided, phase: pod.status?.phase as PodPhase } : decided;
};

const withProbes = ({ hasStarted, isReady }: PodStatusInput, status: ContainerStatus): ContainerStatus => {
  if (!status.state?.running) return { ...status, started: false, ready: false };
  const id = runtimeContainerId(status);
  const started = hasStarted?.(id, status) ?? true;
  return { ...status, started, ready: started && (isReady?.(id, status) ?? true) };
};

const conditionsOf = (
  { pod, resize, runtime, now, previous, reported, hasNewSandbox }: PodStatusInput,
  old: PodStatus | undefined,
  statuses: readonly ContainerStatus[],
  phase: PodPhase,
  isRestarting: boolean,
): PodCondition[] => {
  const before = (type: string) => old?.conditions?.find((condition) => condition.type === type);
  const told = (type: string) =>
    (previous ?? reported ?? pod.status)?.conditions?.find((condition) => condition.type === type);
  const foreign = (pod.status?.conditions ?? []).filter(
    ({ type }) => !OWNED_CONDITIONS.has(type) && type !== DISRUPTION_TARGET,
  );
  const disruption =
    before(DISRUPTION_TARGET) ?? pod.status?.conditions?.find(({ type }) => type === DISRUPTION_TARGET);
  const containersReady = containersReadyCondition(pod, statuses, phase);
  const restarting = allContainersRestartingCondition(pod, isRestarting, phase);
  const resizing = resize && !isTerminalPhase(phase) ? resizeConditions(resize, told, now) : [];
  const findings: readonly Finding[] = [
    hasNewSandbox ? newSandboxCondition() : readyToStartContainersCondition(pod, runtime),
    initializedCondition(pod, statuses, phase, before('Initialized')?.status === 'True'),
    readyCondition(pod, containersReady, foreign),
    containersReady,
    scheduledCondition(),
    ...(restarting ? [restarting] : []),
  ];
  return [
    ...foreign,
    ...resizing,
    ...(disruption ? [disruption] : []),
    ...findings.map((finding) => {
      const known = told(finding.type);
      const same = known?.status === finding.status;
      return {
        ...finding,
        lastTransitionTime: (same ? known.lastTransitionTime : undefined) ?? toTimestamp(now),
        ...(pod.metadata.generation !== undefined &&
          finding.type !== ALL_CONTAINERS_RESTARTING && { observedGeneration: pod.metadata.generation }),
      };
    }),
  ];
};

/**
 * Returns the addresses of a pod: of the node for a pod on the host network, else of its sandbox; the node's first
 * family comes first. A pod on the host network keeps its addresses while the node has them; upstream keeps them for ever, so that
 * an Endpoints object may name an address that no machine has. An ended pod keeps its addresses.
 */
const podIpsOf = ({ pod, runtime, previous, reported, podIsTerminal, hostIps = [] }: PodStatusInput) => {
  const before = previous ?? reported ?? pod.status;
  const known = (before?.podIPs ?? []).map(({ ip }) => ip);
  const isOver = podIsTerminal || isTerminalPhase(before?.phase);
  if (pod.spec.hostNetwork) {
    if ((isOver && known.length > 0) || hostIps.length === 0) return known;
    const kept = known.filter((ip) => hostIps.includes(ip));
    return onePerFamily([...kept, ...hostIps], known[0] === undefined ? undefined : isIpv4(known[0]));
  }
  const ips = runtime.ips.length === 0 && isOver ? known : runtime.ips;
  const [primary] = hostIps;
  if (primary === undefined) return onePerFamily(ips, true);
  return onePerFamily(ips, isIpv4(primary));
};

/** The first address of each family, the preferred family first. */
const onePerFamily = (
  ips: readonly string[],
  ipv4First = ips[0] !== undefined && isIpv4(ips[0]),
): readonly string[] => {
  const ipv4 = ips.find(isIpv4);
  const ipv6 = ips.find((ip) => !isIpv4(ip));
  return (ipv4First ? [ipv4, ipv6] : [ipv6, ipv4]).filter((ip) => ip !== undefined);
};

/** Source: pkg/kubelet/container/runtime.go MaxPodTerminationMessageLogLength: bytes for all containers of a pod. */
const MESSAGE_BYTES_PER_POD = 12_288;

const cutMessages = (containers: number): ((status: ContainerStatus) => ContainerStatus) => {
  const bytes = Math.floor(MESSAGE_BYTES_PER_POD / Math.max(containers, 1));
  const cutState = (state: ContainerStatus['state']): ContainerStatus['state'] => {
    const message = state?.terminated?.message;
    if (!state?.terminated || message === undefined) return state;
    const encoded = new TextEncoder().encode(message);
    if (encoded.length <= bytes) return state;
    // A character that the limit would split is left out.
    const kept = new TextDecoder('utf-8', { ignoreBOM: true }).decode(encoded.subarray(0, bytes), { stream: true });
    return { terminated: { ...state.terminated, message: kept } };
  };
  return (status) => ({ ...status, state: cutState(status.state), lastState: cutState(status.lastState) });
};
