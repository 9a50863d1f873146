import { isMirrorPod, isTerminalPhase, type Pod, type PodCondition, type PodStatus } from '../pod/pod.js';
import { toTimestamp } from '../values/timestamp.js';
import { DISRUPTION_TARGET, OWNED_CONDITIONS } from './conditions.js';
import { FOREIGN_FIELDS } from './same-pod-status.js';

export interface PodStatusMerge {
  /** The status in the API. */
  readonly api: Pick<Pod, 'metadata' | 'status'>;
  /** The status from this agent. */
  readonly own: PodStatus;
  readonly couldHaveRunningContainers: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Returns the status for the API: the status of this agent with the conditions and fields of other writers. While
 * containers may be running the pod does not end in the API, and an ended pod is not ready.
 *
 * Source: pkg/kubelet/status/status_manager.go mergePodStatus
 */
export const mergePodStatus = ({ api, own, couldHaveRunningContainers, now }: PodStatusMerge): PodStatus => {
  const before: PodStatus = api.status ?? {};
  const ends = !isTerminalPhase(before.phase) && isTerminalPhase(own.phase);
  const foreign = (before.conditions ?? []).filter(({ type }) => !OWNED_CONDITIONS.has(type));
  const disruption =
    ends && !couldHaveRunningContainers ? own.conditions?.find(({ type }) => type === DISRUPTION_TARGET) : undefined;
  const { phase, reason, message } = ends && couldHaveRunningContainers ? before : own;
  const conditions = [
    ...(disruption ? replaced(foreign, since(disruption, before, now)) : foreign),
    ...(own.conditions ?? []).filter(({ type }) => OWNED_CONDITIONS.has(type)),
  ];
  const kept = Object.fromEntries(
    FOREIGN_FIELDS.map((field) => [field, (before as Readonly<Record<string, unknown>>)[field]]),
  );
  return {
    ...own,
    ...kept,
    ...startOf(api, own),
    phase,
    reason,
    message,
    conditions: isTerminalPhase(phase) ? unready(conditions, phase, api, now) : conditions,
  };
};

/**
 * An agent that started while the API server was away does not know the pod's start time in an earlier agent. A mirror
 * pod stays while its static pod comes and goes.
 */
const startOf = (api: PodStatusMerge['api'], own: PodStatus): Pick<PodStatus, 'startTime'> => {
  const startTime = isMirrorPod(api) ? own.startTime : (api.status?.startTime ?? own.startTime);
  return startTime === undefined ? {} : { startTime };
};

const replaced = (conditions: readonly PodCondition[], condition: PodCondition): readonly PodCondition[] => {
  const at = conditions.findIndex(({ type }) => type === condition.type);
  return at < 0 ? [...conditions, condition] : conditions.with(at, condition);
};

/** The status was held back until now, so its transition time has no meaning in the API. */
const since = (condition: PodCondition, before: PodStatus, now: number): PodCondition => {
  const known = before.conditions?.find(({ type }) => type === condition.type);
  return {
    ...condition,
    lastTransitionTime: known?.status === condition.status ? known.lastTransitionTime : toTimestamp(now),
  };
};

/** Both conditions change together, even if only one of them is outdated. */
const unready = (
  conditions: readonly PodCondition[],
  phase: string | undefined,
  { metadata: { generation }, status }: Pick<Pod, 'metadata' | 'status'>,
  now: number,
): readonly PodCondition[] => {
  const isReady = conditions.some((condition) => READINESS.includes(condition.type) && condition.status === 'True');
  if (!isReady) return conditions;
  return READINESS.reduce((list, type) => {
    const reported = status?.conditions?.find((condition) => condition.type === type);
    return replaced(list, {
      type,
      status: 'False',
      reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted',
      lastTransitionTime: reported?.status === 'False' ? reported.lastTransitionTime : toTimestamp(now),
      ...(generation !== undefined && { observedGeneration: generation }),
    });
  }, conditions);
};

const READINESS: readonly string[] = ['ContainersReady', 'Ready'];
