import { DEADLINE_EXCEEDED } from '../../model/pod/active-deadline.js';
import { activeMsOf } from '../../model/pod/active-times.js';
import { isMirrorOf } from '../../model/pod/mirror-pod.js';
import { CONFIG_SEEN_ANNOTATION, isStaticPod, type Pod, type PodStatus } from '../../model/pod/pod.js';
import { defaultWaitingReason } from '../../model/pod-status/container-statuses.js';
import { generatePodStatus } from '../../model/pod-status/generate-pod-status.js';
import { illegalTransition, withFormerEnds, withoutRunAnew } from '../../model/pod-status/illegal-transition.js';
import { withAllocated } from '../../model/pod/allocated-resources.js';
import { actuatedIn, amountsOfInstances, isResizeInProgress } from '../../model/resize/actuated.js';
import { resizeEvents, type ShownResize } from '../../model/resize/resize-conditions.js';
import { newTerminations } from '../../model/pod-status/new-terminations.js';
import type { StartFailure } from '../../model/pod-actions/start-failures.js';
import { volumesRefusal } from '../../model/volumes/refused-volumes.js';
import { waitFailedText } from '../../model/volumes/volume-texts.js';
import type { PodCgroups } from '../cgroups/pod-cgroups.js';
import { emitEvent, journal, type PodSyncContext, type PodSyncPorts } from '../pod-sync/pod-sync-context.js';
import { METRIC_TYPES } from '../pod-sync/start-container.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { PodRun } from './pod-workers.js';
import type { PodProbes, ProbeFindings } from '../probes/prober.js';
import { allNamed } from '../../model/values/indexed-lists.js';

export interface StoreStatusPorts extends PodSyncPorts {
  readonly state: Pick<KubeletState, 'pods' | 'statuses' | 'startFailures' | 'dueHooks' | 'apply' | 'value'>;
  readonly podCgroups: PodCgroups;
  readonly probes: PodProbes;
  /** Scheme of container ids in statuses, such as `containerd`. */
  readonly runtimeName: string;
}

/** A container has not started while its postStart hook is due. */
const findings = ({ probes, state }: StoreStatusPorts, pod: Pod): ProbeFindings => {
  const { hasStarted, isReady } = probes.findings(pod);
  const isDue = (id: string): boolean => state.dueHooks.has(pod.metadata.uid, id);
  return { isReady, hasStarted: (id, status) => !isDue(id) && hasStarted(id, status) };
};

/**
 * The API's status of a static pod. The status of another version of the manifest, or of the former life of a pod that started over, is that
 * of another pod, and would make every new status illegal. Upstream takes it nevertheless, and stores no status until the mirror pod is new.
 */
export const reportedStatus = (
  { state }: StoreStatusPorts,
  { uid, pod, mirrorPod }: Pick<PodRun, 'uid' | 'pod' | 'mirrorPod'>,
): PodStatus | undefined =>
  mirrorPod && isMirrorOf(mirrorPod, pod) && !state.statuses.isReborn(uid) ? mirrorPod.status : undefined;

/** The last status of the pod: from this agent, or else from the API. */
export const lastStatus = (ports: StoreStatusPorts, run: Pick<PodRun, 'uid' | 'pod' | 'mirrorPod'>): PodStatus =>
  ports.state.statuses.get(run.uid) ?? reportedStatus(ports, run) ?? run.pod.status ?? {};

/** The inputs of a status beside the runtime's view of the pod. */
export interface StatusView {
  readonly podIsTerminal: boolean;
  readonly statusOverride?: (status: PodStatus) => PodStatus;
  /** The pod has a new sandbox since this run. */
  readonly hasNewSandbox?: boolean;
  /** The reason why the start of one container, or of all containers, waits. */
  readonly waits?: { readonly container?: string; readonly text: string } | undefined;
}

/**
 * Generates the status from the runtime's view of the pod, stores it, records a change of phase, and measures starts and ends. Does
 * not store a status in which a container that has ended for good would run again.
 */
export const storeStatus = (
  context: PodSyncContext,
  ports: StoreStatusPorts,
  run: Pick<PodRun, 'uid' | 'pod' | 'status' | 'mirrorPod'>,
  { podIsTerminal, statusOverride = (status) => status, waits, hasNewSandbox = false }: StatusView,
): PodStatus => {
  const { pod } = context;
  const { state, metrics, probes, podCgroups, scheduler, wallClock, runtimeName, node } = ports;
  const { statuses, startFailures, apply } = state;
  const { uid } = pod.metadata;
  const previous = statuses.get(uid);
  const reported = reportedStatus(ports, run);
  const before = lastStatus(ports, run);
  const actuated = actuatedIn(state.value.resizes, uid);
  const has = withAllocated(pod, amountsOfInstances(run.status, actuated));
  const { startTime } = previous ?? pod.status ?? {};
  noteStart(ports, uid, startTime);
  const generated = statusOverride(
    generatePodStatus({
      pod,
      resize: shownResize(ports, run, pod),
      actuated,
      runtime: run.status,
      previous,
      reported,
      hasNewSandbox,
      podIsTerminal,
      now: wallClock(),
      activeMs: activeMsOf(state.value.activeTimes, uid, startTime, scheduler.now()),
      runtimeName,
      hostIps: node.nodeIps,
      has,
      podCgroup: podCgroups.resourcesOf(has),
      showsStopSignals: node.containerStopSignals,
      ...findings(ports, pod),
      startFailure: (container) =>
        waits && (waits.container ?? container) === container
          ? { reason: defaultWaitingReason(pod), message: waits.text }
          : (startFailures.get(uid, container) ?? volumeFailure(pod)),
    }),
  );
  // After a restart of the agent a static pod may be in a new life, while its mirror pod still shows the former one.
  const mayBeNewLife = previous === undefined && isStaticPod(pod);
  const status = mayBeNewLife ? generated : withFormerEnds(pod, before, generated);
  const illegal = illegalTransition(pod, withoutRunAnew(pod, before, status), status);
  if (illegal !== undefined && !(mayBeNewLife && runsAsAnother(reported, status))) {
    ports.log.error({ uid, error: illegal }, 'does not store a status of the pod');
    return status;
  }
  if (apply({ kind: 'status', uid, status }) && status.phase !== undefined && status.phase !== previous?.phase) {
    journal(context, { kind: 'phase', from: previous?.phase, to: status.phase, reason: status.reason });
    if (status.reason === DEADLINE_EXCEEDED.reason) {
      emitEvent(context, 'Normal', DEADLINE_EXCEEDED.reason, DEADLINE_EXCEEDED.message);
    }
  }
  for (const event of resizeEvents({ asked: state.pods.asked(uid) ?? pod, has: pod }, before, status))
    emitEvent(context, event.type, event.reason, event.message);
  probes.statusStored(uid, status);
  for (const { kind, exitCode, reason } of newTerminations(previous, status)) {
    metrics.containerTerminated(METRIC_TYPES[kind], exitCode, reason);
  }
  // Upstream also counts pods that ran before the agent started; their time is not a start time.
  if (previous?.phase === 'Pending' && status.phase === 'Running') sinceSeen(ports, pod, metrics.podStart);
  return status;
};

/** The resize of the pod, which is in progress while a running container has not what the pod was given. */
const shownResize = (
  { state }: StoreStatusPorts,
  { status }: Pick<PodRun, 'status'>,
  pod: Pod,
): ShownResize | undefined => {
  const { resizes } = state.value;
  const { uid } = pod.metadata;
  const [pending, allocation] = [resizes.pending.get(uid), resizes.allocated.get(uid)];
  const isInProgress = allocation && isResizeInProgress(pod, status, actuatedIn(resizes, uid));
  if (!isInProgress) return pending && { pending };
  return { pending, progress: { generation: allocation.generation, error: resizes.failures.get(uid) } };
};

/**
 * Upstream leaves such a container at its first reason and without a message, and only the event names the volume. The reason is the
 * same here; the message is that of the event, which expires. All containers of the pod wait, as they do for any volume.
 */
const volumeFailure = (pod: Pod): StartFailure | undefined => {
  const refusal = volumesRefusal(pod);
  return refusal === undefined ? undefined : { reason: defaultWaitingReason(pod), message: waitFailedText(refusal) };
};

/** Whether a container that had ended runs as another instance. */
const runsAsAnother = (before: PodStatus | undefined, status: PodStatus): boolean =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].some(
    ({ name, state, containerID }) =>
      state?.running !== undefined &&
      [before?.containerStatuses, before?.initContainerStatuses].some((list) =>
        allNamed(list ?? [], name).some(
          (other) => other.state?.terminated !== undefined && other.containerID !== containerID,
        ),
      ),
  );

/** Remembers when the pod started, also without a deadline: it may get one later. */
const noteStart = (
  { state, scheduler, wallClock }: StoreStatusPorts,
  uid: string,
  startTime: string | undefined,
): void => {
  if (startTime === undefined) return;
  state.apply({ kind: 'start-time-seen', uid, startTime, now: scheduler.now(), wallNow: wallClock() });
};

/** Measures the seconds since this agent saw the pod first. Source: pkg/kubelet/kubelet.go SyncPod, firstSeenTime */
export const sinceSeen = ({ wallClock }: StoreStatusPorts, pod: Pod, observe: (seconds: number) => void): void => {
  const seenAt = Date.parse(pod.metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? '');
  if (!Number.isNaN(seenAt)) observe(Math.max(0, wallClock() - seenAt) / 1000);
};
