import type { JournalEntry, JournalId } from '../../model/journal/journal.js';
import { isTerminalPhase, type PodRef } from '../../model/pod/pod.js';
import { type ContainerStory, newContainer, tellOfContainer, timeOf, withoutInstance } from './container-story.js';
import { openProblems, type OpenProblems, placeOf } from './open-problems.js';

export type EntryOf<Kind extends JournalEntry['kind']> = Extract<JournalEntry, { readonly kind: Kind }>;

/** The state of one pod after the entries. */
export interface PodStory {
  readonly ref: PodRef;
  readonly config?: EntryOf<'config'>;
  /** Whether a source of the present agent has it. */
  readonly isWanted: boolean;
  /** The reason of its stop, once one is requested. */
  readonly stopAsked?: EntryOf<'config' | 'kill-requested' | 'housekeeping'>;
  /** The addition of the pod while it was terminating. */
  readonly comesBack?: EntryOf<'config'>;
  readonly stopped?: EntryOf<'sync-ended'>;
  readonly phase?: EntryOf<'phase'>;
  /** The fields of its spec that the runtime does not apply. */
  readonly unapplied?: EntryOf<'event'>;
  readonly rejected?: EntryOf<'admission-rejected'>;
  readonly delayed?: EntryOf<'start-delayed'>;
  /** The wait for pods that make room, until the first action for it. */
  readonly awaited?: EntryOf<'room-awaited'>;
  /** The running sync of its worker. */
  readonly work?: EntryOf<'sync-started'>;
  /** The slow call that the sync waits for. */
  readonly slow?: EntryOf<'call-slow'>;
  /** The end of the newest sync, in the present run of the agent. */
  readonly ended?: EntryOf<'sync-ended'>;
  readonly forgotten?: EntryOf<'forgotten'>;
  readonly containers: ReadonlyMap<string, ContainerStory>;
  /** The first of the failed attempts in a row to mount, update or unmount a volume, and the last, by its name. */
  readonly volumes: ReadonlyMap<string, { readonly first: EntryOf<'volume'>; readonly last: EntryOf<'volume'> }>;
  /** The open problems of the sources of pods. */
  readonly problems: OpenProblems;
  /** The places whose problems keep this pod unchanged. */
  readonly keptBy: ReadonlySet<string>;
  /** The present or last run of the agent. */
  readonly agent?: EntryOf<'agent-started'>;
  readonly agentStopped?: EntryOf<'agent-stopping'>;
  /** The sources whose first set the present run of the agent has handled. */
  readonly heard: ReadonlySet<string>;
  /** The newest entry of an earlier run, while the present run has none. */
  readonly beforeRestart?: JournalEntry;
  readonly unhealthy?: EntryOf<'runtime-health'>;
  // These three sets change with the story: a copy for each entry is expensive.
  /** The instances whose end is known. */
  readonly endedIds: Set<string>;
  /** The entries by which an agent at its start repeats earlier ones. */
  readonly repeats: Set<JournalId>;
  /** The repeated entries by which it has read the pod again. */
  readonly reread: Set<JournalId>;
}

const nothingOf = (ref: PodRef): Omit<PodStory, 'problems'> => ({
  ref,
  isWanted: false,
  containers: new Map(),
  volumes: new Map(),
  keptBy: new Set(),
  heard: new Set(),
  endedIds: new Set(),
  repeats: new Set(),
  reread: new Set(),
});

export const storyOf = (entries: readonly JournalEntry[], ref: PodRef): PodStory =>
  entries.reduce(tell, { ...nothingOf(ref), problems: openProblems(entries) });

const tell = (story: PodStory, entry: JournalEntry): PodStory => {
  const isAbout = entry.pod?.uid === story.ref.uid;
  if (!entry.pod || entry.kind === 'config-problem') return tellOfNode(story, entry, isAbout);
  if (!isAbout) return story;
  const living = story.forgotten && entry.kind === 'config' && entry.op !== 'REMOVE' ? anew(story) : story;
  if (isRepeatedEnd(living, entry)) {
    living.repeats.add(entry.id);
    return { ...living, beforeRestart: undefined };
  }
  const told = entry.container === undefined ? living : withContainer(living, entry.container, entry);
  return { ...tellOfPod(told, entry), beforeRestart: undefined };
};

/** A pod that was added again under the UID of a cleaned-up pod begins without its history. */
const anew = ({ ref, problems, agent, heard, unhealthy, endedIds, repeats, reread }: PodStory): PodStory => ({
  ...nothingOf(ref),
  problems,
  heard,
  endedIds,
  repeats,
  reread,
  ...(agent && { agent }),
  ...(unhealthy && { unhealthy }),
});

const isRepeatedEnd = (story: PodStory, entry: JournalEntry): boolean =>
  entry.kind === 'runtime-changed' && entry.change === 'ContainerDied' && story.endedIds.has(entry.containerId);

const tellOfNode = (story: PodStory, entry: JournalEntry, isAbout: boolean): PodStory => {
  switch (entry.kind) {
    case 'agent-started': {
      const { work, ended, delayed, config } = story;
      return {
        ...story,
        agent: entry,
        agentStopped: undefined,
        unhealthy: undefined,
        isWanted: false,
        heard: new Set(),
        // The waits of an agent are in its memory, and are lost with it.
        work: undefined,
        volumes: new Map(),
        slow: undefined,
        ended: undefined,
        delayed: undefined,
        awaited: undefined,
        // An agent reads every source at its start, and decides again whether it admits a pod.
        keptBy: new Set(),
        rejected: undefined,
        beforeRestart: work ?? ended ?? delayed ?? config ?? story.beforeRestart,
        containers: withoutBackOffs(story.containers),
      };
    }
    case 'agent-stopping':
      return { ...story, agentStopped: entry };
    case 'runtime-health':
      return { ...story, unhealthy: entry.healthy ? undefined : entry };
    case 'source-heard':
      return story.heard.has(entry.source) ? story : { ...story, heard: new Set([...story.heard, entry.source]) };
    case 'config-problem': {
      const keeps = isAbout || entry.keeps?.some(({ uid }) => uid === story.ref.uid);
      if (keeps) return { ...story, keptBy: new Set([...story.keptBy, placeOf(entry)]) };
      return entry.continues ? story : withoutPlace(story, placeOf(entry));
    }
    case 'config-recovered':
      return withoutPlace(story, placeOf(entry));
    default:
      return story;
  }
};

const withoutPlace = (story: PodStory, place: string): PodStory =>
  story.keptBy.has(place) ? { ...story, keptBy: new Set([...story.keptBy].filter((one) => one !== place)) } : story;

const tellOfPod = (story: PodStory, entry: JournalEntry): PodStory => {
  switch (entry.kind) {
    case 'config':
      return tellOfConfig(story, entry);
    case 'housekeeping':
      return STOPS.test(entry.finding) ? { ...story, stopAsked: story.stopAsked ?? entry } : story;
    case 'kill-requested':
      return { ...story, stopAsked: story.stopAsked ?? entry };
    case 'phase':
      return tellOfPhase(story, entry);
    case 'admission-rejected':
      return { ...story, rejected: entry };
    case 'room-awaited':
      return { ...story, awaited: entry };
    case 'start-delayed':
      return { ...story, delayed: entry };
    case 'sync-started':
      return {
        ...story,
        work: entry,
        slow: undefined,
        delayed: undefined,
        forgotten: undefined,
        // A synced pod was added again: its manifest is back, or its agent is.
        ...(entry.work === 'sync' && {
          stopped: undefined,
          stopAsked: undefined,
          comesBack: undefined,
          rejected: undefined,
        }),
        // A pod that is being stopped is not started again.
        containers: entry.work === 'sync' ? story.containers : withoutBackOffs(story.containers),
      };
    case 'call-slow':
      return { ...story, slow: entry };
    case 'volume':
      return { ...story, volumes: volumesAfter(story.volumes, entry) };
    case 'event':
      return entry.reason === 'SecurityNotApplied' ? { ...story, unapplied: entry } : story;
    case 'actions': {
      // Any later entry of the sync shows that the pod could be read, and its actions show which containers do not run.
      const isWithoutSandbox = entry.actions.some(({ action }) => action === 'create-sandbox');
      const starts = new Set(entry.actions.flatMap(({ action, container }) => (action === 'start' ? container : [])));
      const containers = new Map(
        [...story.containers].map(([name, told]) => [
          name,
          isWithoutSandbox || starts.has(name) ? withoutInstance(told) : told,
        ]),
      );
      return { ...story, slow: undefined, awaited: undefined, containers };
    }
    case 'call': {
      const isAnswered = story.slow?.call === entry.call && story.slow.container === entry.container;
      return isAnswered ? { ...story, slow: undefined } : story;
    }
    case 'sync-ended': {
      const isStopped = entry.work === 'terminating' && entry.error === undefined;
      const ended = { ...story, work: undefined, slow: undefined, awaited: undefined, ended: entry };
      if (!isStopped) return ended;
      const containers = new Map([...story.containers].map(([name, told]) => [name, withoutInstance(told)]));
      return { ...ended, stopped: entry, containers };
    }
    case 'forgotten':
      return { ...story, forgotten: entry, work: undefined };
    default:
      return story;
  }
};

const volumesAfter = (before: PodStory['volumes'], entry: EntryOf<'volume'>): PodStory['volumes'] => {
  const after = new Map(before);
  if (entry.error === undefined) after.delete(entry.volume);
  else after.set(entry.volume, { first: before.get(entry.volume)?.first ?? entry, last: entry });
  return after;
};

/** The findings of housekeeping about removed pods. */
const STOPS = /is stopped$/;

const tellOfConfig = (story: PodStory, entry: EntryOf<'config'>): PodStory => {
  // No pod is kept unchanged any more.
  if (entry.op === 'REMOVE')
    return { ...story, keptBy: new Set(), isWanted: false, comesBack: undefined, stopAsked: entry };
  if (entry.op === 'DELETE') return { ...story, keptBy: new Set(), isWanted: true, stopAsked: entry };
  const wanted = {
    ...withoutPlace(story, placeOf(entry)),
    isWanted: true,
    config: entry.op === 'RECONCILE' || entry.op === 'REFRESH' ? (story.config ?? entry) : entry,
  };
  if (entry.op !== 'ADD' || !story.config) return wanted;
  if (story.stopAsked) return { ...wanted, comesBack: entry };
  story.reread.add(entry.id);
  return wanted;
};

/** The first state that an agent reports after its start is no change if it was the same before. */
const tellOfPhase = (story: PodStory, entry: EntryOf<'phase'>): PodStory => {
  if (entry.from !== undefined) return { ...story, phase: entry };
  const isSame = story.phase?.to === entry.to && story.phase.reason === entry.reason;
  const since = isSame ? undefined : phaseSince(story, entry.to);
  const wasBefore = since !== undefined && since < (story.agent?.at ?? 0);
  if (isSame || wasBefore) story.repeats.add(entry.id);
  if (isSame) return story;
  return { ...story, phase: wasBefore ? { ...entry, at: since } : entry };
};

/** The latest time since which a pod must have been in a phase, by its containers' entries. */
const phaseSince = ({ containers }: PodStory, phase: string): number | undefined => {
  const told = [...containers.values()];
  if (phase === 'Running') return Math.min(...told.flatMap(({ started }) => (started ? timeOf(started) : [])));
  if (!isTerminalPhase(phase)) return undefined;
  const ends = told.flatMap(({ deaths }) => deaths.slice(-1).map(timeOf));
  return ends.length === 0 ? undefined : Math.max(...ends);
};

const withoutBackOffs = (containers: PodStory['containers']): PodStory['containers'] =>
  new Map([...containers].map(([name, told]) => [name, { ...told, backOff: undefined }]));

const withContainer = (story: PodStory, name: string, entry: JournalEntry): PodStory => {
  const told = tellOfContainer(story.containers.get(name) ?? newContainer(name), entry);
  noteEnd(story, entry);
  return { ...story, containers: new Map(story.containers).set(name, told) };
};

/** An id that is started again is another instance, since a runtime may reuse ids. */
const noteEnd = ({ endedIds }: PodStory, entry: JournalEntry): void => {
  if (entry.kind === 'runtime-changed' && entry.change === 'ContainerDied') endedIds.add(entry.containerId);
  else if (entry.kind === 'call' && entry.call === 'StartContainer') endedIds.delete(entry.target ?? '');
};
