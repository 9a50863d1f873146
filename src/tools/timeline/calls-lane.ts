import { callText, slowCallText } from '../../model/journal/call-text.js';
import type { EntryOf } from '../why/pod-story.js';
import { compactDuration } from './compact-duration.js';
import type { Lane, Mark } from './lanes.js';
import { endOfRun, entriesOfKind, inTimeOrder, markOf, type PodEntries } from './pod-entries.js';
import { type ObservationOf, observationsOf, type Relist } from './observations.js';

/** The calls that changed something, with their durations; a call that has not returned goes on. */
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
      ...observationsOf(entries.observed, 'call')
        .filter((call) => !calls.some((entry) => isSame(entry, call)))
        .map((call) => observedCall(call, entries.until)),
      ...entries.observed.relists.filter(({ at }) => at >= (entries.own[0]?.at ?? Infinity)).map(relistMark),
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

/** The largest difference between the end of a call and its journal entry. */
const SAME_MS = 20;

const isSame = (entry: EntryOf<'call'>, { call, until, container }: ObservationOf<'call'>): boolean =>
  entry.call === call && entry.container === container && Math.abs(entry.at - (until ?? Infinity)) <= SAME_MS;

/** A call that only reads is routine, unless it failed. */
const observedCall = (observed: ObservationOf<'call'>, end: number): Mark => {
  const { id, call, container, from, until, error, isGivenUp, isOrdinary } = observed;
  const took = `${until === undefined ? 'has taken' : 'took'} ${compactDuration((until ?? end) - from)}`;
  const outcome = error === undefined ? (isGivenUp ? ', and was cancelled' : '') : `, and failed: ${error}`;
  return {
    id,
    at: from,
    look: 'call',
    label: call,
    entry: id,
    causes: [],
    text: `${callText({ call, ...(container === undefined ? {} : { container }) })} ${took}${outcome}`,
    severity: error === undefined || isOrdinary ? 'quiet' : 'warning',
    until: until ?? end,
    ...(until === undefined ? { isOpen: true } : error === undefined ? { routine: 'reading call' } : {}),
  };
};

const relistMark = ({ id, at }: Relist): Mark => ({
  id: `${id}.relist`,
  at,
  look: 'tick',
  label: 'relist',
  text: 'all pods were listed',
  severity: 'quiet',
  routine: 'relist',
  causes: [],
});

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
