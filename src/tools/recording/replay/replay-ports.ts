import { Observable, type SchedulerLike, type Subscriber } from 'rxjs';
import type { KubeletOptions, KubeletPorts } from '../../../kubelet-options.js';
import type { RecordJournal } from '../../../streams/ports/record-journal.js';
import { askedOnce } from '../ports/asked-once.js';
import { decodeValue, encodeValue } from '../entries/encode-value.js';
import { type NumberedTimer, numberedScheduler } from '../ports/numbered-scheduler.js';
import {
  type AskedRule,
  type CallRule,
  mapRules,
  OPTION_RULES,
  PORT_RULES,
  type PortRule,
  SOURCE_RULE,
  STOP_RULE,
} from '../ports/port-table.js';
import type { InputEntry, JournalPlain, OutputEntry, RecordingHeader } from '../entries/recording-entry.js';
import { ReplyReader, writtenArgs } from '../ports/written-values.js';

type Method = (...args: readonly unknown[]) => unknown;

export interface ReplayPortsOptions {
  readonly header: RecordingHeader;
  /** See `ReplayCursor.output`. */
  readonly output: (actual: OutputEntry) => OutputEntry | undefined;
  readonly now: () => number;
  readonly wallClock: () => number;
  /** The parts that the recording does not hold: code of the user. */
  readonly code: Pick<KubeletOptions, 'admit' | 'swap'>;
}

/** Ports that return the recorded values, and the entrance for the recorded inputs. */
export interface ReplayPorts {
  readonly ports: KubeletPorts;
  readonly options: KubeletOptions;
  /**
   * Fires a timer, or lets a call emit, fail or complete. Errors: throws if the loop has no such timer or call, or if
   * the reply is invalid.
   */
  readonly delivery: (input: Delivered) => () => void;
}

type Delivered = Extract<InputEntry, { readonly kind: 'fired' | 'reply' | 'failed' | 'completed' }>;

interface OpenCall {
  readonly subscriber: Subscriber<unknown>;
  readonly reader: ReplyReader;
  isOver: boolean;
}

/** The ports of a recording. They do nothing of their own accord, and take no time. */
export const replayPorts = ({ header, output, now, wallClock, code }: ReplayPortsOptions): ReplayPorts => {
  const open = new Map<number, OpenCall>();
  const timers = new Map<number, NumberedTimer>();
  let calls = 0;
  let timersSet = 0;

  const stream = (port: string, rule: CallRule, reader: ReplyReader, args: readonly unknown[]) =>
    new Observable((subscriber) => {
      const call = ++calls;
      const mine: OpenCall = { subscriber, reader, isOver: false };
      open.set(call, mine);
      const leave = (): void => {
        open.delete(call);
        if (!mine.isOver) output({ kind: 'given-up', call });
      };
      // As in the recorder.
      const isLate = subscriber.closed;
      if (!isLate) subscriber.add(leave);
      output({ kind: 'call', call, port, args: writtenArgs(rule, args) });
      if (isLate) leave();
    });

  const replayCall = (port: string, rule: CallRule): Method => {
    const reader = new ReplyReader(rule);
    return (...args) => stream(port, rule, reader, args);
  };

  const replayAsked = (port: string, rule: AskedRule): Method => {
    const ask: Method = (...args) => {
      const expected = output({ kind: 'asked', port, args: writtenArgs(rule, args) });
      if (expected?.kind !== 'asked') throw new Error(`the replay is over, and ${port} has no answer`);
      return expected.value === undefined ? undefined : decodeValue(expected.value);
    };
    return rule.isPure ? askedOnce(ask) : ask;
  };

  const record: RecordJournal = (entry) => {
    const expected = output({ kind: 'journal', id: '', record: encodeValue(entry) as JournalPlain });
    return expected?.kind === 'journal' ? expected.id : 'after-the-replay';
  };

  const scheduler: SchedulerLike = numberedScheduler({
    now,
    set: (timer, delayMs) => {
      timers.delete(timer.number);
      timer.number = ++timersSet;
      timers.set(timer.number, timer);
      output({ kind: 'timer', timer: timer.number, delayMs });
    },
    cancel: ({ number }) => {
      timers.delete(number);
      output({ kind: 'cancelled', timer: number });
    },
  });

  const facts: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.entries({ ...header.facts, ...header.options }).map(([path, plain]) => [path, decodeValue(plain)]),
  );
  const make = (path: string, rule: PortRule): unknown => {
    switch (rule.kind) {
      case 'call':
        return replayCall(path, rule);
      case 'asked':
        return replayAsked(path, rule);
      case 'told':
        return (...args: readonly unknown[]) =>
          void output({ kind: 'told', port: path, args: writtenArgs(rule, args) });
      case 'fact':
        return facts[path];
      case 'ignored':
        return SILENT;
      case 'code':
        return code[path as keyof typeof code];
      case 'journal':
        return record;
      case 'scheduler':
        return scheduler;
      case 'wall-clock':
        return wallClock;
      case 'sources':
        return Object.fromEntries(
          header.sources.map((name) => [
            name,
            stream(`sources.${name}`, SOURCE_RULE, new ReplyReader(SOURCE_RULE), []),
          ]),
        );
      case 'stream':
        return stream(path, STOP_RULE, new ReplyReader(STOP_RULE), []);
    }
  };
  const absent = new Set(header.absent);
  const isThere = (path: string): boolean => !absent.has(path);
  // Earlier recordings name options in the way of ports.
  const isOptionThere = (path: string): boolean => isThere(path) && isThere(`options.${path}`);

  return {
    ports: mapRules(PORT_RULES, isThere, make) as unknown as KubeletPorts,
    options: mapRules(OPTION_RULES, isOptionThere, make) as unknown as KubeletOptions,
    delivery: (input) => {
      if (input.kind === 'fired') {
        const timer = timers.get(input.timer);
        if (!timer) throw new Error(`no timer ${input.timer} is set`);
        timers.delete(input.timer);
        return () => timer.fire();
      }
      const call = open.get(input.call);
      if (!call) throw new Error(`no call ${input.call} is pending`);
      const { subscriber, reader } = call;
      if (input.kind === 'reply') {
        const value = reader.read(input.value);
        return () => subscriber.next(value);
      }
      const error = input.kind === 'failed' ? decodeValue(input.error) : undefined;
      call.isOver = true;
      return () => (input.kind === 'failed' ? subscriber.error(error) : subscriber.complete());
    },
  };
};

/** Ignores all calls. */
const SILENT: object = new Proxy({}, { get: () => () => undefined });
