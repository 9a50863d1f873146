import { callText, slowCallText } from '../why/describe-entry.js';
import type { EntryOf } from '../why/pod-story.js';
import { compactDuration } from './compact-duration.js';
import type { Lane, Mark } from './lanes.js';
import { endOfRun, entriesOfKind, inTimeOrder, markOf, type PodEntries } from './pod-entries.js';

/** The calls that changed something, as long as they took; one that does not come back goes on. */
export const callsLane = (entries: PodEntries): Lane => {
  const calls = entriesOfKind(entries.own, 'call');
  const isAnswered = (slow: EntryOf<'call-slow'>) =>
    calls.some(({ at, call, container }) => at >= slow.at && call === slow.call && container === slow.container);
  const slow = entriesOfKind(entries.own, 'call-slow');
  return {
    kind: 'calls',
    name: 'calls',
    marks: inTimeOrder([
      ...calls.map(callSpan),
      ...slow.map((entry) => slowMark(entry)),
      ...slow
        .filter((entry, index) => entry.call !== undefined && !isAnswered(entry) && isLastOf(slow, index))
        .map((entry) => openCall(entry, entries)),
    ]),
  };
};

const callSpan = (entry: EntryOf<'call'>): Mark => {
  const took = `took ${compactDuration(entry.durationMs)}`;
  return markOf(entry, {
    id: `${entry.id}.call`,
    at: entry.at - entry.durationMs,
    look: 'call',
    label: entry.call,
    text:
      entry.error === undefined
        ? `${callText(entry)} ${took}`
        : `${callText(entry)} ${took} and failed: ${entry.error}`,
    severity: entry.error === undefined ? 'quiet' : 'error',
    until: entry.at,
  });
};

const slowMark = (entry: EntryOf<'call-slow'>): Mark =>
  markOf(entry, { look: 'tick', label: 'slow', text: slowText(entry), severity: 'warning' });

const openCall = (entry: EntryOf<'call-slow'>, entries: PodEntries): Mark =>
  markOf(entry, {
    id: `${entry.id}.call`,
    at: entry.at - entry.waitedMs,
    look: 'call',
    label: entry.call ?? 'read',
    text: slowText(entry),
    severity: 'quiet',
    ...endOfRun(entry.at, entries),
  });

const slowText = (entry: EntryOf<'call-slow'>): string =>
  slowCallText(entry.call === undefined ? undefined : callText({ ...entry, call: entry.call }), entry.waitedMs);

const isLastOf = (slow: readonly EntryOf<'call-slow'>[], index: number): boolean =>
  !slow
    .slice(index + 1)
    .some(({ call, container }) => call === slow[index]?.call && container === slow[index]?.container);
