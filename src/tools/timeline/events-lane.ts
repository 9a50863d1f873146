import type { JournalEntry } from '../../model/journal/journal.js';
import type { Lane } from './lanes.js';
import { entriesOfKind, markOf, type PodEntries } from './pod-entries.js';
import { probeOf } from './probe-lanes.js';

/**
 * The events of the pod. A warning that another lane shows as well is no news, and an event of a probe is in the
 * probe's lane.
 */
export const eventsLane = ({ own, routine }: PodEntries): Lane => {
  const told = new Set(own.filter(isToldElsewhere).flatMap(({ causes }) => causes));
  return {
    kind: 'events',
    name: 'events',
    marks: entriesOfKind(own, 'event')
      .filter((entry) => probeOf(entry) === undefined)
      .map((entry) =>
        markOf(entry, {
          look: 'event',
          label: entry.reason,
          text: `${entry.reason}: ${entry.message}`,
          ...(routine.entries.has(entry.id) ? { routine: 'repeated event' } : {}),
          severity:
            entry.type === 'Warning' && !routine.entries.has(entry.id) && !entry.causes.some((id) => told.has(id))
              ? 'warning'
              : 'quiet',
        }),
      ),
  };
};

const isToldElsewhere = (entry: JournalEntry): boolean =>
  entry.kind === 'back-off' ||
  entry.kind === 'admission-rejected' ||
  (entry.kind === 'call' && entry.error !== undefined) ||
  (entry.kind === 'sync-ended' && entry.error !== undefined);
