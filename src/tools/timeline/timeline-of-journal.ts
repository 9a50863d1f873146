import type { JournalEntry } from '../../model/journal/journal.js';
import type { PodRef } from '../../model/pod/pod.js';
import { describeEntry } from '../why/describe-entry.js';
import { podsIn } from '../why/find-pod.js';
import { agentBreaks, agentRuns, nodeOf } from './agent-breaks.js';
import { callsLane } from './calls-lane.js';
import { clipTimeline } from './clip-timeline.js';
import { configLane } from './config-lane.js';
import { eventsLane } from './events-lane.js';
import { inDrawingOrder, type Lane, type Timeline, type TimelineEntry } from './lanes.js';
import { beginOf, type Observation, type Observed } from './observations.js';
import type { AgentRun, PodEntries } from './pod-entries.js';
import { probeLanes } from './probe-lanes.js';
import { routineOf } from './routine-entries.js';
import { runtimeLanes } from './runtime-lanes.js';
import { statusLane } from './status-lane.js';
import { workerLane } from './worker-lane.js';

export interface JournalOfPods {
  /** The oldest entry first. */
  readonly entries: readonly JournalEntry[];
  /** The pods to show; all pods of the entries by default. */
  readonly pods?: readonly PodRef[];
  /** The begin, in the milliseconds of the entries. By default the first entry about one of the pods. */
  readonly from?: number;
  /** The end; the last entry by default. Spans without an earlier end are open. */
  readonly until?: number;
  readonly clock?: Timeline['clock'];
  /** Further facts from a recording. */
  readonly observed?: Observed;
}

const NOTHING_OBSERVED: Observed = { observations: [], relists: [] };

/** Returns the timeline of pods from the agent's journal. Pods without a mark in that time are left out. */
export const timelineOfJournal = (journal: JournalOfPods): Timeline => {
  const { entries, pods, clock = 'time-of-day', observed = NOTHING_OBSERVED, ...range } = journal;
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
    pods: refs.map((ref) => {
      const own = ownOf(before, ref);
      const seen = observedOf(observed, ref, until);
      return { ref, lanes: lanesOf(podEntries(own, { runs, until: lastKnown(own, runs, until), observed: seen })) };
    }),
    breaks: agentBreaks(before, until),
    entries: inOrder([
      ...before.filter((entry) => isWanted(entry) || !entry.pod).map(entryOf),
      ...observed.observations.filter(({ pod }) => uids.has(pod.uid)).map(observedEntry),
    ]),
  });
};

const ownOf = (entries: readonly JournalEntry[], { uid }: PodRef): readonly JournalEntry[] =>
  entries.filter(
    (entry) =>
      entry.pod?.uid === uid || (entry.kind === 'config-problem' && entry.keeps?.some((kept) => kept.uid === uid)),
  );

const podEntries = (own: readonly JournalEntry[], rest: Omit<PodEntries, 'own' | 'routine'>): PodEntries => ({
  own,
  ...rest,
  routine: routineOf(own),
});

/**
 * The time until which the pod is known: for a pod that a later agent does not have, the end of the agent that had it.
 */
const lastKnown = (own: readonly JournalEntry[], runs: readonly AgentRun[], until: number): number => {
  const lastAt = own.at(-1)?.at ?? until;
  const index = runs.findLastIndex(({ from }) => from <= lastAt);
  return index < 0 || index === runs.length - 1 ? until : Math.min(until, Math.max(lastAt, runs[index]!.until));
};

const observedOf = ({ observations, relists }: Observed, { uid }: PodRef, until: number): Observed => ({
  observations: observations.filter((one) => one.pod.uid === uid && beginOf(one) <= until),
  relists: relists.filter(({ at }) => at <= until),
});

/** A lane without marks is left out, unless it is one of the fixed lanes. */
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

const inOrder = (entries: readonly TimelineEntry[]): readonly TimelineEntry[] =>
  entries.toSorted((one, other) => one.at - other.at);

const observedEntry = (observation: Observation): TimelineEntry => ({
  id: observation.id,
  at: beginOf(observation),
  causes: [],
  record: observation,
});

const entryOf = (entry: JournalEntry): TimelineEntry => {
  const text = describeEntry(entry);
  return { id: entry.id, at: entry.at, ...(text === undefined ? {} : { text }), causes: entry.causes, record: entry };
};
