import { type Finding, RESIZE_IN_PROGRESS, RESIZE_PENDING } from '../pod-status/conditions.js';
import type { Container, Pod, PodCondition, PodStatus } from '../pod/pod.js';
import { toTimestamp } from '../values/timestamp.js';
import type { PendingResize } from './pod-resizes.js';

/** The resize of a pod as its status shows it. */
export interface ShownResize {
  readonly pending?: PendingResize | undefined;
  /** Absent if every running container has what the pod was given. */
  readonly progress?: {
    /** The version of the pod that was given; absent after a restart of the agent. */
    readonly generation?: number | undefined;
    /** Why the last step failed. */
    readonly error?: string | undefined;
  };
}

/**
 * Returns the conditions of a resize. The time of a transition changes with the reason alone. An error stays until the resize is done, or
 * another one begins, also if a later agent does not know it.
 *
 * Source: pkg/kubelet/status/status_manager.go SetPodResizePendingCondition, SetPodResizeInProgressCondition
 */
export const resizeConditions = (
  { pending, progress }: ShownResize,
  known: (type: string) => PodCondition | undefined,
  now: number,
): readonly PodCondition[] => {
  const conditions: PodCondition[] = [];
  if (pending) {
    const { reason, message, generation, triedAt } = pending;
    const finding = { type: RESIZE_PENDING, status: 'True', reason, message } as const;
    conditions.push(withTimes(finding, known(RESIZE_PENDING), triedAt, generation));
  }
  if (progress) {
    const before = known(RESIZE_IN_PROGRESS);
    const generation = progress.generation ?? before?.observedGeneration;
    const isSame = before?.observedGeneration === generation;
    const error = progress.error ?? (isSame && before?.reason === 'Error' ? before.message : undefined);
    const finding = {
      ...{ type: RESIZE_IN_PROGRESS, status: 'True' },
      ...(error !== undefined && { reason: 'Error', message: error }),
    } as const;
    const at = isSame && before?.reason === finding.reason && before?.lastProbeTime;
    conditions.push(withTimes(finding, before, at ? Date.parse(at) : now, generation));
  }
  return conditions;
};

const withTimes = (
  finding: Finding,
  known: PodCondition | undefined,
  probedAt: number,
  generation: number | undefined,
): PodCondition => ({
  ...finding,
  lastProbeTime: toTimestamp(probedAt),
  lastTransitionTime:
    (known && known.reason === finding.reason ? known.lastTransitionTime : undefined) ?? toTimestamp(probedAt),
  ...(generation !== undefined && { observedGeneration: generation }),
});

/** An event about a resize. */
export interface ResizeEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/**
 * Returns the events of a resize between two statuses of its pod: of a wait for each version of the pod and each reason, of a failure when
 * the condition changes, and of the end. `has` is the pod as it runs here.
 *
 * Source: pkg/kubelet/events/resize.go, pkg/kubelet/status/status_manager.go
 */
export const resizeEvents = (
  { asked, has }: { readonly asked: Pod; readonly has: Pod },
  before: PodStatus | undefined,
  status: PodStatus,
): readonly ResizeEvent[] => {
  const of = (one: PodStatus | undefined, type: string) => one?.conditions?.find((found) => found.type === type);
  const [waited, waits] = [of(before, RESIZE_PENDING), of(status, RESIZE_PENDING)];
  const [ran, runs] = [of(before, RESIZE_IN_PROGRESS), of(status, RESIZE_IN_PROGRESS)];
  const events: ResizeEvent[] = [];
  if (waits && (waited?.reason !== waits.reason || waited?.observedGeneration !== waits.observedGeneration)) {
    const { reason = '', message } = waits;
    events.push({
      ...{ type: 'Warning', reason: `Resize${reason}` },
      message: resizeText(reason, asked, waits.observedGeneration, message),
    });
  }
  if (runs?.reason === 'Error' && (ran?.reason !== 'Error' || ran.message !== runs.message)) {
    const message = resizeText('error', has, runs.observedGeneration, runs.message);
    events.push({ type: 'Warning', reason: 'ResizeError', message });
  }
  // The conditions of a pod that has ended are gone, too.
  if (ran && !runs && status.phase === 'Running') {
    const message = resizeText('completed', has, ran.observedGeneration);
    events.push({ type: 'Normal', reason: 'ResizeCompleted', message });
  }
  return events;
};

/** The message of an event about a resize, with the amounts in question. */
export const resizeText = (what: string, { spec }: Pod, generation: number | undefined, error?: string): string => {
  const amounts = (containers: readonly Container[] = []) =>
    containers.length === 0 ? undefined : containers.map(({ name, resources = {} }) => ({ name, resources }));
  const summary = {
    initContainers: amounts(spec.initContainers),
    containers: amounts(spec.containers),
    generation,
    error,
  };
  return `Pod resize ${what}: ${JSON.stringify(summary)}`;
};
