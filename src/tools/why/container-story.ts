import type { JournalEntry } from '../../model/journal/journal.js';

type EntryOf<Kind extends JournalEntry['kind']> = Extract<JournalEntry, { readonly kind: Kind }>;

export interface ContainerStory {
  readonly name: string;
  /** The start of the newest instance, if it runs. */
  readonly started?: JournalEntry;
  /** The restart count of that instance. */
  readonly startedId?: string;
  /** The end of the newest instance, until the next one starts. */
  readonly died?: EntryOf<'runtime-changed'>;
  /** In the order of their times. The list itself changes with the story: a copy for each entry is expensive. */
  readonly deaths: EntryOf<'runtime-changed'>[];
  readonly backOff?: EntryOf<'back-off'>;
  /** The failed call that blocks its start. */
  readonly failure?: EntryOf<'call'>;
  /** The probes that the running instance has passed. */
  readonly passed: ReadonlySet<HoldingProbe>;
  /** The probe by which it is not ready, or has not started. */
  readonly held?: Held;
}

/** The probes that a container has to pass; a liveness probe counts as passed from the start. */
export type HoldingProbe = 'startup' | 'readiness';

export interface Held {
  readonly probe: HoldingProbe;
  /** The time of its first failure, in Unix milliseconds. */
  readonly since: number;
  /** The output of the newest failure. */
  readonly message: string;
}

/** The time of the event itself: an agent that has just started receives events of before its start. */
export const timeOf = (entry: JournalEntry): number =>
  entry.kind === 'runtime-changed' && entry.happenedAt !== undefined ? Math.min(entry.happenedAt, entry.at) : entry.at;

const NONE: ReadonlySet<HoldingProbe> = new Set();
const UNPROBED = { passed: NONE, held: undefined };

export const newContainer = (name: string): ContainerStory => ({ name, deaths: [], passed: NONE });

/** The container has stopped, but no entry holds its end. */
export const withoutInstance = (told: ContainerStory): ContainerStory =>
  told.started ? { ...told, started: undefined, startedId: undefined, ...UNPROBED } : told;

export const tellOfContainer = (told: ContainerStory, entry: JournalEntry): ContainerStory => {
  switch (entry.kind) {
    case 'probe':
      return tellOfProbe(told, entry);
    case 'event':
      return entry.reason === 'Unhealthy' ? tellOfFailure(told, entry) : told;
    case 'back-off':
      return { ...told, backOff: entry };
    case 'call':
      if (entry.error !== undefined) return { ...told, failure: entry };
      return entry.call === 'StartContainer' ? running(told, entry, entry.target) : told;
    case 'runtime-changed':
      return tellOfChange(told, entry);
    default:
      return told;
  }
};

const running = (told: ContainerStory, entry: JournalEntry, id: string | undefined): ContainerStory => ({
  ...told,
  started: entry,
  startedId: id,
  died: undefined,
  backOff: undefined,
  failure: undefined,
  ...UNPROBED,
});

const tellOfChange = (told: ContainerStory, entry: EntryOf<'runtime-changed'>): ContainerStory => {
  const isRunningOne = told.started !== undefined && told.startedId === entry.containerId;
  switch (entry.change) {
    case 'ContainerStarted':
      // The runtime also reports a start that this agent made; the call was first.
      return isRunningOne ? told : running(told, entry, entry.containerId);
    case 'ContainerDied': {
      const { deaths } = told;
      deaths.splice(deaths.findLastIndex((death) => timeOf(death) <= timeOf(entry)) + 1, 0, entry);
      // An earlier instance than the running one, of which an agent learns at its start.
      if (told.started && !isRunningOne) return told;
      return { ...told, ...UNPROBED, started: undefined, startedId: undefined, died: deaths.at(-1) };
    }
    case 'ContainerRemoved':
      return isRunningOne ? withoutInstance(told) : told;
    default:
      return told;
  }
};

const tellOfProbe = (told: ContainerStory, { probe, result, output, at }: EntryOf<'probe'>): ContainerStory => {
  if (probe === 'liveness') return told;
  const others = [...told.passed].filter((one) => one !== probe);
  if (result === 'failure') return hold({ ...told, passed: new Set(others) }, probe, output ?? '', at);
  const passed = new Set([...others, probe]);
  return told.held?.probe === probe ? { ...told, passed, held: undefined } : { ...told, passed };
};

/** A probe without a verdict of success counts as failed. */
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
