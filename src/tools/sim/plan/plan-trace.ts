import type { JournalEntry } from '../../../model/journal/journal.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { WorldEvent } from '../world/world-event.js';

/** Whether a pod or one of its containers is ready, written when it changes. */
export interface ReadyChange {
  readonly kind: 'ready';
  readonly at: number;
  readonly uid: string;
  /** Absent for the pod as a whole. */
  readonly container?: string;
  readonly isReady: boolean;
}

/** World events that a plan does not keep: calls, sets of pods and statuses. */
export type TraceEvent =
  | Exclude<
      WorldEvent,
      { readonly kind: 'image-pulled' | 'call' | 'call-ended' | 'call-given-up' | 'wanted' | 'status' }
    >
  | ReadyChange;

/** The events of a world that a plan consists of, in order. */
export interface PlanTrace {
  readonly events: readonly TraceEvent[];
  readonly tell: (event: WorldEvent) => void;
  /** The pods of the agent that it has not forgotten yet. */
  readonly open: () => number;
}

export const planTrace = (): PlanTrace => {
  const events: TraceEvent[] = [];
  const known = new Map<string, boolean>();
  const open = new Set<string>();
  const note = (at: number, uid: string, isReady: boolean, container?: string): void => {
    const key = `${uid}/${container ?? ''}`;
    if ((known.get(key) ?? false) === isReady) return;
    known.set(key, isReady);
    events.push({ kind: 'ready', at, uid, isReady, ...(container === undefined ? {} : { container }) });
  };
  const noteReady = (at: number, uid: string, status: Pod['status']): void => {
    // An agent that has just started has received its sources' pods, and has not synced yet.
    if (!status?.conditions) return;
    for (const { name, ready } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      note(at, uid, ready, name);
    note(
      at,
      uid,
      status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
  };
  const noteGone = (at: number, uid: string): void => {
    for (const [key, isReady] of known) {
      const [of, container] = key.split('/');
      if (of === uid && isReady) note(at, uid, false, container || undefined);
    }
  };
  const noteOpen = (entry: JournalEntry): void => {
    if (entry.kind === 'config' && entry.pod) open.add(entry.pod.uid);
    if (entry.kind === 'forgotten' && entry.pod) open.delete(entry.pod.uid);
  };
  return {
    events,
    open: () => open.size,
    tell: (event) => {
      switch (event.kind) {
        case 'status':
          if (event.pod) noteReady(event.at, event.uid, event.pod.status);
          else noteGone(event.at, event.uid);
          return;
        case 'journal':
          noteOpen(event.entry);
          if (event.entry.pod) events.push(event);
          return;
        case 'sandbox-created':
        case 'sandbox-stopped':
        case 'container-started':
        case 'container-exited':
        case 'container-stopping':
        case 'asked':
        case 'agent-started':
        case 'agent-killed':
        case 'runtime-started':
        case 'runtime-stopped':
          events.push(event);
          return;
        default:
      }
    },
  };
};
