import type { JournalEntry } from '../../model/journal/journal.js';
import { describeEntry } from '../why/describe-entry.js';
import type { EntryOf } from '../why/pod-story.js';
import { compactDuration } from './compact-duration.js';
import type { Lane, Mark } from './lanes.js';
import { type ObservationOf, observationsOf } from './observations.js';
import { endOfRun, entriesOfKind, inTimeOrder, markOf, type PodEntries } from './pod-entries.js';
import { ancestors } from './routine-entries.js';

/** The actions and waits of the pod's worker: its syncs, back-offs, timers, and the findings of housekeeping. */
export const workerLane = (entries: PodEntries): Lane => ({
  kind: 'worker',
  name: 'worker',
  marks: inTimeOrder([
    ...passes(entries),
    ...entries.own.flatMap((entry) => markFor(entry, entries)),
    ...observationsOf(entries.observed, 'timer').map(timerMark),
  ]),
});

const LOOKS = { sync: 'sync', terminating: 'stopping', terminated: 'cleanup' } as const;

const passes = (entries: PodEntries): readonly Mark[] => {
  const { own, routine } = entries;
  const byId = new Map(own.map((entry) => [entry.id, entry]));
  const ends = new Map(entriesOfKind(own, 'sync-ended').flatMap((entry) => entry.causes.map((id) => [id, entry])));
  const explained = new Set(own.filter(isReason).flatMap((entry) => [...ancestors(entry, byId)]));
  return entriesOfKind(own, 'sync-started').map((entry) => {
    const ended = ends.get(entry.id);
    const isFailed = ended?.error !== undefined;
    return markOf(entry, {
      look: LOOKS[entry.work],
      label: LOOKS[entry.work],
      text: passText(entry, ended),
      severity: isFailed && !explained.has(entry.id) ? 'error' : entry.work === 'terminating' ? 'note' : 'quiet',
      ...(ended ? { until: Math.max(entry.at, ended.at), endedBy: ended.id } : endOfRun(entry.at, entries)),
      ...(ended && routine.passes.has(entry.id) ? { routine: isFailed ? 'back-off sync' : 'idle sync' } : {}),
    });
  });
};

/** Entries that explain a failed sync better than its error. */
const isReason = (entry: JournalEntry): boolean =>
  entry.kind === 'back-off' || (entry.kind === 'call' && entry.error !== undefined);

const passText = (started: EntryOf<'sync-started'>, ended: EntryOf<'sync-ended'> | undefined): string => {
  const begin = describeEntry(started) ?? started.work;
  if (!ended) return `${begin}; it has not ended`;
  const outcome = ended.error === undefined ? 'ended well' : `failed: ${ended.error}`;
  return `${begin}; it ${outcome} after ${compactDuration(ended.at - started.at)}\n${nextText(ended)}`;
};

const nextText = ({ at, next }: EntryOf<'sync-ended'>): string => {
  switch (next.kind) {
    case 'now':
      return 'next: another sync at once';
    case 'resync':
      return `next: a routine sync in ${compactDuration(next.dueAt - at)}`;
    case 'retry':
      return `next: another try in ${compactDuration(next.dueAt - at)}: ${next.reason}`;
    case 'nothing':
      return `next: nothing: ${next.reason}`;
  }
};

const timerMark = ({ id, at }: ObservationOf<'timer'>): Mark => ({
  id,
  at,
  look: 'tick',
  label: 'timer',
  text: 'a timer was due',
  severity: 'quiet',
  routine: 'timer firing',
  entry: id,
  causes: [],
});

const markFor = (entry: JournalEntry, entries: PodEntries): readonly Mark[] => {
  switch (entry.kind) {
    case 'back-off': {
      if (entries.routine.entries.has(entry.id)) {
        return [markOf(entry, { look: 'tick', label: 'back-off', severity: 'quiet', routine: 'repeated back-off' })];
      }
      const what = entry.subject === 'restart' ? 'back-off' : 'pull back-off';
      const { until, isOpen } = endOfRun(entry.at, entries);
      return [
        markOf(entry, {
          look: 'back-off',
          label: `${what} ${compactDuration(entry.delayMs)}`,
          text: `${describeEntry(entry)}: step ${entry.step} of ${entry.steps}`,
          severity: 'warning',
          ...(entry.until < until
            ? { until: Math.max(entry.at, entry.until) }
            : { until, ...(isOpen ? { isOpen } : {}) }),
        }),
      ];
    }
    case 'back-off-unknown':
      return [markOf(entry, { look: 'event', label: 'no back-off known', severity: 'note' })];
    case 'end-not-counted':
      return [markOf(entry, { look: 'event', label: 'no crash', text: describeEntry(entry), severity: 'note' })];
    case 'room-awaited':
      return [
        markOf(entry, {
          look: 'back-off',
          label: 'waits for room',
          severity: 'warning',
          until: endOfRun(entry.at, entries).until,
        }),
      ];
    case 'resize':
      return [
        markOf(entry, {
          look: 'change',
          label: entry.decision === 'allocated' ? 'resized' : 'resize waits',
          text: describeEntry(entry),
          severity: entry.decision === 'allocated' ? 'note' : 'warning',
        }),
      ];
    case 'start-delayed':
      return [
        markOf(entry, {
          look: 'back-off',
          label: 'waits for the name',
          severity: 'warning',
          until: Math.max(entry.at, Math.min(entry.retryAt, endOfRun(entry.at, entries).until)),
        }),
      ];
    case 'work-due':
      return [markOf(entry, { look: 'tick', label: 'timer', severity: 'quiet', routine: 'timer firing' })];
    case 'housekeeping':
      return [markOf(entry, { look: 'event', label: 'housekeeping', severity: 'note' })];
    case 'forgotten':
      return [markOf(entry, { look: 'change', label: 'forgotten', severity: 'note' })];
    default:
      return [];
  }
};
