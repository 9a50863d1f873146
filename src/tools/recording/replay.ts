import type { Subscription } from 'rxjs';
import type { Kubelet, KubeletOptions } from '../../kubelet-options.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { PodRef } from '../../model/pod/pod.js';
import { CauseFinder } from './replay/cause-finder.js';
import { encodeValue } from './entries/encode-value.js';
import { PodFinder } from './entries/pod-finder.js';
import { type MakeKubelet, writtenOutcome } from './record-kubelet.js';
import {
  type InputEntry,
  isOutput,
  type Plain,
  type RecordingEntry,
  type RecordingHeader,
} from './entries/recording-entry.js';
import { RecordingError } from './replay/recording-error.js';
import { ReplayCursor } from './replay/replay-cursor.js';
import { replayPorts } from './replay/replay-ports.js';
import type { ReplayResult, SameReplay } from './replay/replay-result.js';
import { wallAt } from './entries/step-clock.js';

export interface Recording {
  readonly header: RecordingHeader;
  /** The entries after the header, which is entry 0; read once, as far as the replay gets. */
  readonly entries: Iterable<RecordingEntry>;
}

export interface ReplayOptions {
  /** Stops before later entries, in milliseconds since the recording began. */
  readonly untilMs?: number;
  /** Receives every entry of the replay, in order: an output once the loop has done the same. */
  readonly onEntry?: (entry: RecordingEntry, number: number, place: EntryPlace) => void;
  /** The code in the options of the recorded agent, if there was any: `header.code` names it. */
  readonly code?: Pick<KubeletOptions, 'admit' | 'swap'>;
}

export interface EntryPlace {
  /** Milliseconds since the recording began, by the scheduler. */
  readonly atMs: number;
  /** Unix milliseconds. */
  readonly wallTime: number;
  /** The pod of the entry, if known. */
  readonly pod: PodRef | undefined;
}

/**
 * Plays a recording to the kubelet of `makeKubelet`: it receives the same inputs at the same times, and has to do the
 * same because of each. Synchronous: nothing waits, and only the time of the recording passes.
 *
 * Errors: throws a `RecordingError` that names the entry if the recording contradicts itself, or needs `code` that was
 * not given; and any error of `entries`.
 */
export const replay = (
  { header, entries }: Recording,
  makeKubelet: MakeKubelet,
  { untilMs = Infinity, onEntry = () => undefined, code = {} }: ReplayOptions = {},
): ReplayResult => {
  checkHeader(header, code);
  const pods = new PodFinder();
  const causes = new CauseFinder();
  const counts = { entries: 1, inputs: 0, effects: 0 };
  let clock = { atMs: 0, now: header.startedAt, offset: 0, wallTime: header.startedAt };
  let step: { readonly entry: number; readonly input: InputEntry } | undefined;
  let end: SameReplay['end'] = 'no-more';
  let agent: Kubelet | undefined;
  let subscription: Subscription | undefined;
  let broken: RecordingError | undefined;

  const begin = (input: InputEntry, entry: number): void => {
    step = { entry, input };
    if (!('at' in input)) return;
    const now = header.startedAt + input.at;
    const offset = input.wallOffset ?? clock.offset;
    clock = { atMs: input.at, now, offset, wallTime: input.wall ?? wallAt(now, offset) };
  };

  /** Delivers the input to the loop. */
  const wayIn = (input: InputEntry): (() => void) => {
    switch (input.kind) {
      case 'made':
        return () => (agent = makeKubelet(parts.ports, parts.options));
      case 'started':
        if (!agent) throw new Error('the agent is started before it is made');
        return start(agent);
      case 'ended':
        end = 'ended';
        return () => subscription?.unsubscribe();
      default:
        return parts.delivery(input);
    }
  };

  const start =
    ({ outcome$ }: Kubelet) =>
    (): void => {
      const running = outcome$.subscribe({
        next: (outcome) => void cursor.output({ kind: 'outcome', outcome: encodeValue(writtenOutcome(outcome)) }),
        error: (error: unknown) => over({ error: encodeValue(error) }),
        complete: () => over({}),
      });
      // It may have been stopped while it was started.
      if (end === 'ended') running.unsubscribe();
      subscription = running;
    };

  const over = (why: { readonly error?: Plain }): void => {
    if (end === 'ended') return;
    if (cursor.output({ kind: 'over', ...why })) end = 'ended';
  };

  const perform = (input: InputEntry, entry: number): void => {
    counts.inputs += 1;
    let letIn: () => void;
    try {
      letIn = wayIn(input);
    } catch (error) {
      // An error thrown here would look like the failure of a port.
      broken ??= new RecordingError(entry, errorText(error), { cause: error });
      return cursor.end();
    }
    letIn();
  };

  const cursor = new ReplayCursor({
    entries,
    perform,
    onEntry: (entry, number) => {
      const { atMs, wallTime } = clock;
      counts.entries = number + 1;
      if (isOutput(entry)) counts.effects += 1;
      const pod = pods.see(entry);
      causes.see(entry, number, atMs);
      onEntry(entry, number, { atMs, wallTime, pod });
    },
  });
  const parts = replayPorts({
    header,
    code,
    output: (actual) => cursor.output(actual),
    now: () => clock.now,
    wallClock: () => clock.wallTime,
  });

  let thrown: string | undefined;
  for (let { next } = cursor; next; { next } = cursor) {
    const { number } = cursor;
    if (isOutput(next) || !isStep(next)) cursor.part(undefined);
    else if ('at' in next && next.at > untilMs) {
      end = 'until';
      cursor.end();
    } else {
      begin(next, number);
      cursor.take();
      try {
        perform(next, number);
      } catch (error) {
        thrown = errorText(error);
        cursor.part(undefined);
      }
    }
  }
  const { parting, cut, broken: unreadable } = cursor;
  cursor.end();
  subscription?.unsubscribe();
  if (broken) throw broken;
  if (unreadable) throw unreadable.error;
  const reached = { ...counts, virtualMs: clock.atMs };
  if (!parting) {
    return { kind: 'same', ...reached, ...(cut ? { end: 'cut', reason: cut.reason } : { end }) };
  }
  const pod = pods.guess(parting.actual) ?? (isOutput(parting.expected) ? pods.guess(parting.expected) : undefined);
  return {
    kind: 'different',
    ...reached,
    ...parting,
    atMs: clock.atMs,
    wallTime: clock.wallTime,
    input: step,
    pod,
    ...(thrown !== undefined && { thrown }),
    causes: causes.before(parting, pod),
  };
};

/** Begins a step of the loop, for inputs that did not come in during a call of a port. */
const isStep = (entry: RecordingEntry): entry is InputEntry => 'at' in entry || ('depth' in entry && entry.depth === 0);

const checkHeader = (header: RecordingHeader, given: object): void => {
  const { kind, format, startedAt, facts, options, code, absent, sources } = header as Partial<RecordingHeader>;
  const isWhole = typeof startedAt === 'number' && facts && options && code && absent && sources;
  if (kind !== 'recording' || !isWhole) throw new RecordingError(0, 'expected the header of a recording');
  if (format !== 1) throw new RecordingError(0, `expected the format 1, and not ${JSON.stringify(format)}`);
  const missing = code.find((name) => !(name in given));
  if (missing === undefined) return;
  throw new RecordingError(0, `the agent had an option ${missing} of its own, which the replay needs`);
};
