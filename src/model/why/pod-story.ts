import type { JournalEntry } from '../journal.js';
import type { PodRef } from '../pod.js';

export type EntryOf<Kind extends JournalEntry['kind']> = Extract<JournalEntry, { readonly kind: Kind }>;

export interface ContainerStory {
  readonly name: string;
  /** The newest instance runs since then. */
  readonly started?: JournalEntry;
  /** How the newest instance ended, until another one starts. */
  readonly died?: EntryOf<'runtime-changed'>;
  readonly deaths: readonly EntryOf<'runtime-changed'>[];
  readonly backOff?: EntryOf<'back-off'>;
  /** The call that keeps it from starting. */
  readonly failure?: EntryOf<'call'>;
  /** The probes that the instance which runs has passed. */
  readonly passed: ReadonlySet<HoldingProbe>;
  /** The probe by which it is not ready, or has not started. */
  readonly held?: Held;
}

/** Probes that a container has to pass; that it is alive is taken for granted. */
export type HoldingProbe = 'startup' | 'readiness';

export interface Held {
  readonly probe: HoldingProbe;
  /** When it failed first, in Unix milliseconds. */
  readonly since: number;
  /** Of the newest failure. */
  readonly message: string;
}

/** What the entries say of one pod as things stand at the end of them. */
export interface PodStory {
  readonly ref: PodRef;
  readonly config?: EntryOf<'config'>;
  /** Why it is to stop, once it is. */
  readonly stopAsked?: EntryOf<'config' | 'kill-requested'>;
  readonly stopped?: EntryOf<'sync-ended'>;
  readonly phase?: EntryOf<'phase'>;
  readonly rejected?: EntryOf<'admission-rejected'>;
  readonly delayed?: EntryOf<'start-delayed'>;
  /** The pass that its worker is in. */
  readonly work?: EntryOf<'sync-started'>;
  /** The slow call that the pass waits for. */
  readonly slow?: EntryOf<'call-slow'>;
  /** How the newest pass ended, in the present run of the agent. */
  readonly ended?: EntryOf<'sync-ended'>;
  readonly forgotten?: EntryOf<'forgotten'>;
  readonly containers: ReadonlyMap<string, ContainerStory>;
  /** What is wrong with where it comes from, by source and place. */
  readonly problems: ReadonlyMap<string, EntryOf<'config-problem'>>;
  /** The present or last run of the agent. */
  readonly agent?: EntryOf<'agent-started'>;
  readonly agentStopped?: EntryOf<'agent-stopping'>;
  /** The newest entry of an earlier run, while the present run has none. */
  readonly beforeRestart?: JournalEntry;
  readonly unhealthy?: EntryOf<'runtime-health'>;
}

export const storyOf = (entries: readonly JournalEntry[], ref: PodRef): PodStory =>
  entries.reduce(tell, { ref, containers: new Map(), problems: new Map() } as PodStory);

const tell = (story: PodStory, entry: JournalEntry): PodStory => {
  const isAbout = entry.pod?.uid === story.ref.uid;
  if (!entry.pod || entry.kind === 'config-problem') return tellOfNode(story, entry, isAbout);
  if (!isAbout) return story;
  const known = entry.container === undefined ? story : withContainer(story, entry.container, entry);
  return { ...tellOfPod(known, entry), beforeRestart: undefined };
};

const tellOfNode = (story: PodStory, entry: JournalEntry, isAbout: boolean): PodStory => {
  switch (entry.kind) {
    case 'agent-started': {
      const { work, ended, delayed, config } = story;
      return {
        ...story,
        agent: entry,
        agentStopped: undefined,
        unhealthy: undefined,
        // What an agent waits for is in its memory, and gone with it.
        ...{ work: undefined, slow: undefined, ended: undefined, delayed: undefined },
        // It reads everything anew.
        problems: new Map(),
        beforeRestart: work ?? ended ?? delayed ?? config ?? story.beforeRestart,
        containers: withoutBackOffs(story.containers),
      };
    }
    case 'agent-stopping':
      return { ...story, agentStopped: entry };
    case 'runtime-health':
      return { ...story, unhealthy: entry.healthy ? undefined : entry };
    case 'config-problem': {
      if (!isAbout && !entry.keeps?.some(({ uid }) => uid === story.ref.uid)) return story;
      return { ...story, problems: new Map([...story.problems, [placeOf(entry), entry]]) };
    }
    case 'config-recovered':
      return { ...story, problems: without(story.problems, placeOf(entry)) };
    default:
      return story;
  }
};

const tellOfPod = (story: PodStory, entry: JournalEntry): PodStory => {
  switch (entry.kind) {
    case 'config': {
      // Nothing is kept as it was any more.
      if (entry.op === 'REMOVE' || entry.op === 'DELETE') return { ...story, problems: new Map(), stopAsked: entry };
      const problems = without(story.problems, placeOf(entry));
      return { ...story, problems, config: entry.op === 'RECONCILE' ? (story.config ?? entry) : entry };
    }
    case 'kill-requested':
      return { ...story, stopAsked: story.stopAsked ?? entry };
    case 'phase':
      return { ...story, phase: entry };
    case 'admission-rejected':
      return { ...story, rejected: entry };
    case 'start-delayed':
      return { ...story, delayed: entry };
    case 'sync-started':
      return {
        ...story,
        ...{ work: entry, slow: undefined, delayed: undefined, forgotten: undefined },
        // One that is synchronised has come back: the manifest that was stopped for is there again, or its agent is.
        ...(entry.work === 'sync' && { stopped: undefined, stopAsked: undefined }),
        // What is being stopped is not started again.
        containers: entry.work === 'sync' ? story.containers : withoutBackOffs(story.containers),
      };
    case 'call-slow':
      return { ...story, slow: entry };
    // Whatever is done after the pod was read shows that it could be.
    case 'actions':
      return { ...story, slow: undefined };
    case 'call': {
      const isAnswered = story.slow?.call === entry.call && story.slow.container === entry.container;
      return isAnswered ? { ...story, slow: undefined } : story;
    }
    case 'sync-ended': {
      const isStopped = entry.work === 'terminating' && entry.error === undefined;
      return { ...story, work: undefined, slow: undefined, ended: entry, stopped: isStopped ? entry : story.stopped };
    }
    case 'forgotten':
      return { ...story, forgotten: entry, work: undefined };
    default:
      return story;
  }
};

const withoutBackOffs = (containers: PodStory['containers']): PodStory['containers'] =>
  new Map([...containers].map(([name, told]) => [name, { ...told, backOff: undefined }]));

const withContainer = (story: PodStory, name: string, entry: JournalEntry): PodStory => {
  const told = story.containers.get(name) ?? { name, deaths: [], passed: NONE };
  return { ...story, containers: new Map([...story.containers, [name, tellOfContainer(told, entry)]]) };
};

const tellOfContainer = (told: ContainerStory, entry: JournalEntry): ContainerStory => {
  const running = { ...told, started: entry, died: undefined, backOff: undefined, failure: undefined, ...UNPROBED };
  if (entry.kind === 'probe') return tellOfProbe(told, entry);
  if (entry.kind === 'event' && entry.reason === 'Unhealthy') return tellOfFailure(told, entry);
  if (entry.kind === 'back-off') return { ...told, backOff: entry };
  if (entry.kind === 'call') {
    if (entry.error !== undefined) return { ...told, failure: entry };
    return entry.call === 'StartContainer' ? running : told;
  }
  if (entry.kind !== 'runtime-changed') return told;
  // The runtime reports a start that this agent made as well; the call was first.
  if (entry.change === 'ContainerStarted') return told.started ? told : running;
  if (entry.change !== 'ContainerDied') return told;
  return { ...told, started: undefined, died: entry, deaths: [...told.deaths, entry], ...UNPROBED };
};

const NONE: ReadonlySet<HoldingProbe> = new Set();
const UNPROBED = { passed: NONE, held: undefined };

const tellOfProbe = (told: ContainerStory, { probe, result, output, at }: EntryOf<'probe'>): ContainerStory => {
  if (probe === 'liveness') return told;
  const others = [...told.passed].filter((one) => one !== probe);
  if (result === 'failure') return hold({ ...told, passed: new Set(others) }, probe, output ?? '', at);
  const passed = new Set([...others, probe]);
  return told.held?.probe === probe ? { ...told, passed, held: undefined } : { ...told, passed };
};

/** What was not passed yet is failed without a word of the verdict: that does not change. */
const tellOfFailure = (told: ContainerStory, { message, at }: EntryOf<'event'>): ContainerStory => {
  const { title, text = '' } = FAILURE.exec(message)?.groups ?? {};
  const probe = title?.toLowerCase() as HoldingProbe | undefined;
  return probe === undefined || told.passed.has(probe) ? told : hold(told, probe, text, at);
};

const FAILURE = /^(?<title>Startup|Readiness) probe (?:failed|errored[^:]*): (?<text>.*)/s;

const hold = (told: ContainerStory, probe: HoldingProbe, message: string, at: number): ContainerStory => ({
  ...told,
  held: { probe, message, since: told.held?.probe === probe ? told.held.since : at },
});

const placeOf = ({ source, from }: { readonly source: string; readonly from?: string }): string =>
  `${source} ${from ?? ''}`;

const without = <Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> =>
  map.has(key) ? new Map([...map].filter(([name]) => name !== key)) : map;
