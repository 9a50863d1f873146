import type { JournalEntry } from '../../model/journal/journal.js';
import type { Lane, Mark } from './lanes.js';
import { markOf, type PodEntries } from './pod-entries.js';

/** The updates of the pod from its sources, the problems of these sources, and requests to stop the pod. */
export const configLane = ({ own }: PodEntries): Lane => ({
  kind: 'config',
  name: 'config',
  marks: own.flatMap(markFor),
});

const markFor = (entry: JournalEntry): readonly Mark[] => {
  switch (entry.kind) {
    case 'config':
      if (entry.op === 'RECONCILE') {
        return [markOf(entry, { look: 'tick', label: entry.op, severity: 'quiet', routine: 'reconcile' })];
      }
      return [markOf(entry, { look: 'change', label: entry.op, severity: 'note' })];
    case 'config-problem':
      return [markOf(entry, { look: 'failure', label: 'problem', severity: 'error' })];
    case 'config-recovered':
      return [markOf(entry, { look: 'change', label: 'recovered', severity: 'good' })];
    case 'kill-requested':
      return [markOf(entry, { look: 'kill', label: entry.reason, severity: 'warning' })];
    case 'admission-rejected':
      return [markOf(entry, { look: 'failure', label: entry.reason, severity: 'error' })];
    default:
      return [];
  }
};
