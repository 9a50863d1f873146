import type { JournalEntry } from '../../../model/journal/journal.js';
import { containersOf, isSidecar } from '../../../model/pod/pod.js';
import { planContainer } from './plan-container.js';
import { planDrain } from './plan-drain.js';
import type { ContainerPlan, PlannedEvent, PodPlan } from './plan.js';
import { type PodTrace, readySpans } from './pod-trace.js';

/** The plan of one pod. `name` is that of its manifest. */
export const planPod = (name: string, trace: PodTrace): PodPlan => {
  const { pod, events, startMs } = trace;
  const entries = events.flatMap((event) => (event.kind === 'journal' ? [{ ...event.entry, at: event.at }] : []));
  const rejection = entries.find((entry) => entry.kind === 'admission-rejected');
  const drain = planDrain(trace);
  return {
    name,
    namespace: pod.metadata.namespace,
    ...(rejection?.kind === 'admission-rejected' && {
      rejected: { atMs: rejection.at - startMs, reason: rejection.reason, message: rejection.message },
    }),
    sandboxes: events.flatMap((event) =>
      event.kind === 'sandbox-created' ? [{ atMs: event.at - startMs, attempt: event.attempt }] : [],
    ),
    phases: phasesIn(entries, startMs),
    ready: readySpans(trace),
    containers: containersOf(pod).flatMap(({ kind, container }): readonly ContainerPlan[] =>
      kind === 'ephemeral'
        ? []
        : [planContainer({ kind: kind === 'init' && isSidecar(container) ? 'sidecar' : kind, container, trace })],
    ),
    events: foldEvents(trace),
    ...(drain && { drain }),
  };
};

/** Only changes: the agent writes a back-off whenever its reason may have changed. */
const phasesIn = (entries: readonly JournalEntry[], startMs: number): PodPlan['phases'] => {
  const phases = entries.flatMap((entry) =>
    entry.kind === 'phase'
      ? [{ atMs: entry.at - startMs, phase: entry.to, ...(entry.reason && { reason: entry.reason }) }]
      : [],
  );
  return phases.filter(({ phase, reason }, index) => {
    const before = phases[index - 1];
    return phase !== before?.phase || reason !== before.reason;
  });
};

const foldEvents = ({ events, startMs }: PodTrace): readonly PlannedEvent[] => {
  const folded = new Map<string, PlannedEvent>();
  for (const { at, ...event } of events) {
    if (event.kind !== 'journal' || event.entry.kind !== 'event') continue;
    const { type, reason, message, container } = event.entry;
    const key = JSON.stringify([container, reason, message]);
    const before = folded.get(key);
    folded.set(key, {
      type,
      reason,
      message,
      ...(container === undefined ? {} : { container }),
      firstMs: before?.firstMs ?? at - startMs,
      lastMs: at - startMs,
      count: (before?.count ?? 0) + 1,
    });
  }
  return [...folded.values()];
};
