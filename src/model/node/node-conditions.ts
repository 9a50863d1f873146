import { aggregateText } from '../runtime-health/runtime-state.js';
import type { NodeCondition } from './node.js';

/** The content of a condition, without its times. */
type Verdict = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

/** The resources of the node that run short, as the eviction manager reports them. */
export interface NodePressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

export const NO_PRESSURE: NodePressure = { memory: false, disk: false, pid: false };

const PRESSURES: readonly {
  readonly type: string;
  readonly of: (pressure: NodePressure) => boolean;
  /**
   * The content of a condition while it is true and while it is false: reason, message, and the reason of the event.
   */
  readonly yes: readonly [reason: string, message: string, event: string];
  readonly no: readonly [reason: string, message: string, event: string];
}[] = [
  {
    type: 'MemoryPressure',
    of: ({ memory }) => memory,
    yes: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available', 'NodeHasInsufficientMemory'],
    no: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available', 'NodeHasSufficientMemory'],
  },
  {
    type: 'DiskPressure',
    of: ({ disk }) => disk,
    yes: ['KubeletHasDiskPressure', 'kubelet has disk pressure', 'NodeHasDiskPressure'],
    no: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure', 'NodeHasNoDiskPressure'],
  },
  {
    type: 'PIDPressure',
    of: ({ pid }) => pid,
    yes: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available', 'NodeHasInsufficientPID'],
    no: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available', 'NodeHasSufficientPID'],
  },
];

/** Every change of a condition is one of these events about the node. */
export interface ConditionsTold {
  readonly conditions: readonly NodeCondition[];
  /** The reasons of the events about changes: `NodeReady`. */
  readonly events: readonly string[];
}

/**
 * Returns the conditions of a kubelet; conditions of other writers stay. A pressure condition is only written when it
 * changes, except for its heartbeat. Readiness is always written, and is last if it is new.
 *
 * Source: pkg/kubelet/nodestatus/setters.go
 */
export const foldConditions = (
  before: readonly NodeCondition[],
  {
    pressure,
    problems,
    now,
  }: {
    readonly pressure: NodePressure;
    /** The reasons why the node is not ready; empty if it is. */
    readonly problems: readonly string[];
    /** The format of the API's times. */
    readonly now: string;
  },
): ConditionsTold => {
  let conditions = before;
  const events: string[] = [];
  for (const { type, of, yes, no } of PRESSURES) {
    const [status, [reason, message, event]] = of(pressure) ? (['True', yes] as const) : (['False', no] as const);
    const known = before.find((condition) => condition.type === type);
    const isChanged = known?.status !== status;
    if (isChanged) events.push(event);
    conditions = withCondition(conditions, {
      ...(known && !isChanged ? known : { type, status, reason, message, lastTransitionTime: now }),
      lastHeartbeatTime: now,
    });
  }
  const ready = readiness(problems);
  const known = before.find(({ type }) => type === 'Ready');
  const isChanged = known?.status !== ready.status;
  if (known && isChanged) events.push(ready.status === 'True' ? 'NodeReady' : 'NodeNotReady');
  conditions = withCondition(conditions, {
    ...ready,
    lastHeartbeatTime: now,
    lastTransitionTime: known && !isChanged ? known.lastTransitionTime : now,
  });
  return { conditions, events };
};

const readiness = (problems: readonly string[]): Verdict =>
  problems.length === 0
    ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
    : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: aggregateText(problems) };

/** Replaces a condition in its place, or appends it. */
const withCondition = (conditions: readonly NodeCondition[], condition: NodeCondition): readonly NodeCondition[] =>
  conditions.some(({ type }) => type === condition.type)
    ? conditions.map((one) => (one.type === condition.type ? condition : one))
    : [...conditions, condition];
