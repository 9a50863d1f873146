import type { JournalId } from '../../model/journal/journal.js';
import type { Pod } from '../../model/pod/pod.js';

/** An event in the sense of the Kubernetes API, about the node, a pod, or one container of a pod. */
export interface NodeAgentEvent {
  /** Absent for an event about the node. */
  readonly pod?: Pod;
  readonly container?: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Of the Event in the API. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly causes: readonly JournalId[];
}

/** Records an event; the port decides where. Does not fail and does not wait. */
export type RecordEvent = (event: NodeAgentEvent) => void;
