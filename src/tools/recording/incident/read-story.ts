import { CriError, errorText } from '../../../model/cri/cri-error.js';
import type { JournalEntry } from '../../../model/journal/journal.js';
import type { PodRef } from '../../../model/pod/pod.js';
import { beginOf, type Observation, type ObservationOf, type Observed } from '../../timeline/observations.js';
import { decodeValue } from '../entries/encode-value.js';
import { OpenCalls, type RecordedCall } from './open-calls.js';
import { PodFinder } from '../entries/pod-finder.js';
import type { Plain, RecordingEntry, RecordingHeader } from '../entries/recording-entry.js';
import { wallAt } from '../entries/step-clock.js';

/** The pods of a recording. Times are Unix milliseconds of the agent's clock. */
export interface RecordedStory {
  /** The journal entries, oldest first. */
  readonly journal: readonly JournalEntry[];
  readonly observed: Observed;
  /** The name of the node, if the recording has it. */
  readonly node?: string;
  /** The begin and end of the recording. */
  readonly from: number;
  readonly until: number;
}

/** Reads all of the entries. Observations have the ids `call-<number>`, `probe-<number>` and `timer-<number>`. */
export const readStory = (header: RecordingHeader, entries: Iterable<RecordingEntry>): RecordedStory => {
  const finder = new PodFinder();
  const calls = new OpenCalls();
  const callPods = new Map<number, PodRef>();
  const containers = new Map<string, string>();
  const journal: JournalEntry[] = [];
  const observations: Observation[] = [];
  let events = 0;
  const relists: { id: string; at: number }[] = [];
  let [offset, wall] = [0, header.startedAt];
  let from: number | undefined;
  /** The timer that began the step, until the step turns out to be about a pod. */
  let fired: number | undefined;

  const end = (
    number: number,
    outcome: Pick<ObservationOf<'call'>, 'until' | 'error' | 'isGivenUp' | 'isOrdinary'>,
  ): void => {
    const call = calls.get(number);
    const pod = callPods.get(number);
    calls.close(number);
    callPods.delete(number);
    const name = call && criMethod(call.port);
    if (!call || !pod || name === undefined) return;
    const container = madeBy(call) ?? containers.get(containerIdOf(call) ?? '');
    observations.push({
      kind: 'call',
      id: `call-${number}`,
      pod,
      call: name,
      from: call.at,
      ...(container === undefined ? {} : { container }),
      ...outcome,
    });
  };
  const learn = (id: unknown, container: string | undefined): void => {
    if (typeof id === 'string' && container !== undefined) containers.set(id, container);
  };
  const replied = (number: number, value: Plain | undefined): void => {
    const call = calls.get(number);
    if (!call) return;
    const reply = calls.decodeReply(call, value);
    if (call.port === 'runtime.createContainer') {
      learn((reply as { readonly containerId?: string }).containerId, madeBy(call));
    }
    const pod = callPods.get(number);
    if (call.port !== 'probeHandlers.probe' || !pod) return;
    const { container, type } = call.args[0] as { readonly container: string; readonly type: string };
    const { result, output } = reply as { readonly result: string; readonly output?: string };
    observations.push({
      kind: 'probe-result',
      id: `probe-${number}`,
      pod,
      container,
      at: wall,
      probe: type,
      result: result === 'failure' ? 'failure' : 'success',
      ...(output === undefined ? {} : { output }),
    });
  };

  for (const entry of entries) {
    if ('at' in entry) {
      offset = entry.wallOffset ?? offset;
      wall = entry.wall ?? wallAt(header.startedAt + entry.at, offset);
      from ??= wall;
      fired = entry.kind === 'fired' ? entry.timer : undefined;
    }
    const pod = finder.see(entry);
    if (pod && fired !== undefined) {
      // The entry itself shows the due timer, if it names one.
      const isTold = entry.kind === 'journal' && entry.record.kind === 'work-due';
      if (!isTold) observations.push({ kind: 'timer', id: `timer-${fired}`, pod, at: wall });
      fired = undefined;
    }
    switch (entry.kind) {
      case 'journal': {
        const { target, containerId, container } = entry.record;
        learn(target ?? containerId, container);
        journal.push({ ...entry.record, id: entry.id, at: wall } as unknown as JournalEntry);
        break;
      }
      case 'call':
        calls.open(entry, wall);
        if (pod) callPods.set(entry.call, pod);
        else if (entry.port === 'runtime.listPodSandbox') relists.push({ id: `call-${entry.call}`, at: wall });
        break;
      case 'told': {
        const event = entry.port === 'recordEvent' ? (decodeValue(entry.args[0] ?? null) as ToldEvent) : undefined;
        if (event) journal.push({ ...event, kind: 'event', id: `event-${++events}`, at: wall });
        break;
      }
      case 'reply':
        replied(entry.call, entry.value);
        break;
      case 'completed':
        end(entry.call, { until: wall });
        break;
      case 'failed':
        {
          const error = decodeValue(entry.error);
          const isOrdinary = error instanceof CriError && ORDINARY.includes(error.code);
          end(entry.call, { until: wall, error: errorText(error), ...(isOrdinary ? { isOrdinary } : {}) });
        }
        break;
      case 'given-up':
        end(entry.call, { until: wall, isGivenUp: true });
        break;
      default:
    }
  }
  // Calls that are pending at the end of the recording.
  for (const number of [...callPods.keys()]) end(number, {});
  observations.sort((one, other) => beginOf(one) - beginOf(other));
  const { name: node } = (header.facts.node ?? {}) as { readonly name?: unknown };
  return {
    ...(typeof node === 'string' ? { node } : {}),
    journal,
    observed: { observations, relists },
    from: from ?? header.startedAt,
    until: wall,
  };
};

/**
 * Returns the CRI name of a call: `runtime.startContainer` is `StartContainer`. Undefined for streams, and for calls of
 * other ports.
 */
const criMethod = (port: string): string | undefined => {
  const [, name] = /^(?:runtime|images)\.(\w+)$/.exec(port) ?? [];
  return name === undefined || name === 'containerEvents' ? undefined : name.charAt(0).toUpperCase() + name.slice(1);
};

const containerIdOf = ({ args: [first] }: RecordedCall): string | undefined =>
  (first as { readonly containerId?: string } | undefined)?.containerId;

/** Ordinary failures of an agent's call: a missing object, or a cancelled call. */
const ORDINARY: readonly string[] = ['not-found', 'cancelled', 'unimplemented', 'already-exists'];

/** An event of a pod: the journal gets it from outside of the recorded ports. */
type ToldEvent = Omit<Extract<JournalEntry, { readonly kind: 'event' }>, 'id' | 'at' | 'kind'>;

/** The name of the container that the call creates. */
const madeBy = ({ port, args: [first] }: RecordedCall): string | undefined => {
  if (port !== 'runtime.createContainer') return undefined;
  return (first as { readonly config?: { readonly metadata?: { readonly name?: string } } }).config?.metadata?.name;
};
