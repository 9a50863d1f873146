import type { JournalEntry } from '../journal.js';
import type { PodRef } from '../pod.js';
import { describeEntry } from '../why/describe-entry.js';
import { podsIn } from '../why/find-pod.js';
import { agentBreaks, agentRuns, nodeOf } from './agent-breaks.js';
import { callsLane } from './calls-lane.js';
import { clipTimeline } from './clip-timeline.js';
import { configLane } from './config-lane.js';
import { eventsLane } from './events-lane.js';
import { inDrawingOrder, type Lane, type Timeline, type TimelineEntry } from './lanes.js';
import type { PodEntries } from './pod-entries.js';
import { probeLanes } from './probe-lanes.js';
import { routineOf } from './routine-entries.js';
import { runtimeLanes } from './runtime-lanes.js';
import { statusLane } from './status-lane.js';
import { workerLane } from './worker-lane.js';

export interface JournalOfPods {
  /** Oldest first. */
  readonly entries: readonly JournalEntry[];
  /** Whose lanes are wanted; all pods that the entries are about unless given. */
  readonly pods?: readonly PodRef[];
  /** What to show, in the milliseconds of the entries. From the first entry about one of the pods unless given. */
  readonly from?: number;
  /** To the last entry unless given. What has not ended by then is open. */
  readonly until?: number;
  readonly clock?: Timeline['clock'];
}

/** The timeline of pods from what the agent wrote down. Pods without a mark in the time that is shown are left out. */
export const timelineOfJournal = ({ entries, pods, clock = 'time-of-day', ...range }: JournalOfPods): Timeline => {
  const refs = pods ?? podsIn(entries).map(({ ref }) => ref);
  const uids = new Set(refs.map(({ uid }) => uid));
  const isWanted = (entry: JournalEntry): boolean =>
    (entry.pod !== undefined && uids.has(entry.pod.uid)) ||
    (entry.kind === 'config-problem' && (entry.keeps?.some(({ uid }) => uids.has(uid)) ?? false));
  const firstAt = entries.find(isWanted)?.at ?? entries[0]?.at ?? 0;
  const until = range.until ?? Math.max(firstAt, ...entries.slice(-1).map(({ at }) => at));
  const from = Math.min(until, range.from ?? firstAt);
  const before = entries.filter(({ at }) => at <= until);
  const runs = agentRuns(before);
  const node = nodeOf(before);
  return clipTimeline({
    from,
    until,
    clock,
    ...(node === undefined ? {} : { node }),
    pods: refs.map((ref) => ({ ref, lanes: lanesOf(podEntries(ownOf(before, ref), runs, until)) })),
    breaks: agentBreaks(before, until),
    entries: before.filter((entry) => isWanted(entry) || !entry.pod).map(entryOf),
  });
};

const ownOf = (entries: readonly JournalEntry[], { uid }: PodRef): readonly JournalEntry[] =>
  entries.filter(
    (entry) =>
      entry.pod?.uid === uid || (entry.kind === 'config-problem' && entry.keeps?.some((kept) => kept.uid === uid)),
  );

const podEntries = (own: readonly JournalEntry[], runs: PodEntries['runs'], until: number): PodEntries => ({
  ...{ own, runs, until },
  routine: routineOf(own),
});

/** A lane without marks says nothing, except of what is always there. */
const lanesOf = (entries: PodEntries): readonly Lane[] => {
  const runtime = runtimeLanes(entries);
  const lanes = [
    configLane(entries),
    workerLane(entries),
    ...runtime,
    ...probeLanes(entries),
    statusLane(entries),
    callsLane(entries),
    eventsLane(entries),
  ];
  return inDrawingOrder(
    lanes.filter(({ marks }) => marks.length > 0),
    runtime.flatMap(({ container }) => container ?? []),
  );
};

const entryOf = (entry: JournalEntry): TimelineEntry => {
  const text = describeEntry(entry);
  return { id: entry.id, at: entry.at, ...(text === undefined ? {} : { text }), causes: entry.causes, record: entry };
};
