import type { RecordEvent } from '../ports/record-event.js';

/** Records an event about the node that a sync of a pod has found. */
export type RecordNodeEvent = (event: {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}) => void;

/** Records each event about the node once in the life of the agent, since every pod would find it again. */
export const recordNodeEventOnce = (recordEvent: RecordEvent): RecordNodeEvent => {
  const recorded = new Set<string>();
  return ({ type, reason, message }) => {
    const text = `${reason} ${message}`;
    if (recorded.has(text)) return;
    recorded.add(text);
    recordEvent({ type, reason, message, causes: [] });
  };
};
