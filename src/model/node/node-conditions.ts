import { aggregateText } from '../runtime-state.js';
import type { NodeCondition } from './node.js';

/** What a condition says, without its times. */
type Verdict = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

/** Which resources of the node run short, as whoever stops pods for it sees it. */
export interface NodePressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

const PRESSURES: readonly {
  readonly type: string;
  readonly of: (pressure: NodePressure) => boolean;
  /** When it is true, when it is not: reason, message, and the reason of the event. */
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

/** Every change is one of these events about the node. */
export interface ConditionsTold {
  readonly conditions: readonly NodeCondition[];
  /** Reasons of the events that tell what has changed: `NodeReady`. */
  readonly events: readonly string[];
}

/**
 * The conditions that a kubelet answers for, now; those of others stay. A pressure is only written again when it changes, but for its
 * heartbeat; readiness always is, and stands last where it is new.
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
    /** Why the node is not ready; none when it is. */
    readonly problems: readonly string[];
    /** As the API writes times. */
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
    : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: aggregateText([...new Set(problems)]) };

/** In its old place, or at the end. */
const withCondition = (conditions: readonly NodeCondition[], condition: NodeCondition): readonly NodeCondition[] =>
  conditions.some(({ type }) => type === condition.type)
    ? conditions.map((one) => (one.type === condition.type ? condition : one))
    : [...conditions, condition];
