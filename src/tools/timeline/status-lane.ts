import { compactDuration } from './compact-duration.js';
import type { Lane, Severity } from './lanes.js';
import { entriesOfKind, markOf, type PodEntries } from './pod-entries.js';

const SEVERITIES: Readonly<Record<string, Severity>> = { Running: 'good', Succeeded: 'good', Failed: 'error' };

/** The phases of the pod, each until the next one or until the pod was forgotten. */
export const statusLane = ({ own, until }: PodEntries): Lane => {
  const phases = entriesOfKind(own, 'phase');
  return {
    kind: 'status',
    name: 'status',
    marks: phases.map((entry, index) => {
      const forgotten = entriesOfKind(own, 'forgotten').find(({ at }) => at >= entry.at);
      const next = phases[index + 1] ?? forgotten;
      const reason = entry.reason ? ` (${entry.reason})` : '';
      return markOf(entry, {
        look: 'phase',
        label: entry.to,
        text: `the phase became ${entry.to}${reason}${next ? `, for ${compactDuration(next.at - entry.at)}` : ''}`,
        severity: SEVERITIES[entry.to] ?? 'note',
        until: next?.at ?? until,
        ...(next ? { endedBy: next.id } : { isOpen: true }),
      });
    }),
  };
};
