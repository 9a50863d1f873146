import { Observable, type SchedulerAction, type SchedulerLike, Subject, takeUntil } from 'rxjs';
import type { KubeletOptions, KubeletPorts } from '../../../kubelet-options.js';
import type { RecordJournal } from '../../../streams/ports/record-journal.js';
import { askedOnce } from './asked-once.js';
import { encodeValue } from '../entries/encode-value.js';
import type { EntryTape } from '../entries/entry-tape.js';
import { type NumberedTimer, numberedScheduler } from './numbered-scheduler.js';
import {
  type AskedRule,
  type CallRule,
  mapRules,
  OPTION_RULES,
  PORT_RULES,
  type PortRule,
  SOURCE_RULE,
  STOP_RULE,
  type ToldRule,
} from './port-table.js';
import type { JournalPlain, OutputEntry } from '../entries/recording-entry.js';
import type { SecretKeeper } from '../secrets/secret-keeper.js';
import type { StepClock } from '../entries/step-clock.js';
import { ReplyWriter, writtenAnswer, writtenArgs } from './written-values.js';

export interface PortRecorder {
  readonly tape: EntryTape;
  readonly clock: StepClock;
  readonly secrets: SecretKeeper;
}

type Method = (...args: readonly unknown[]) => unknown;

/** Returns the same ports and options, with all of their values written to the tape. */
export const recordPorts = (
  ports: KubeletPorts,
  options: KubeletOptions,
  recorder: PortRecorder,
): { readonly ports: KubeletPorts; readonly options: KubeletOptions } => {
  const { tape, clock, secrets } = recorder;
  let calls = 0;
  let timers = 0;

  const stream = <T>(
    source$: Observable<T>,
    port: string,
    rule: CallRule,
    writer: ReplyWriter,
    args: readonly unknown[],
  ) =>
    new Observable<T>((subscriber) => {
      const call = ++calls;
      const gone$ = new Subject<void>();
      let isOver = false;
      const called = (): OutputEntry => ({ kind: 'call', call, port, args: writtenArgs(rule, args, secrets) });
      const givenUp = (): OutputEntry => ({ kind: 'given-up', call });
      if (subscriber.closed) {
        // Operators subscribe to the rest of their sources although one that failed at once has ended them.
        tape.output(called, () => source$.subscribe(subscriber));
        return tape.output(givenUp, () => undefined);
      }
      subscriber.add(() => {
        if (isOver) return;
        isOver = true;
        tape.output(givenUp, () => gone$.next());
      });
      const input = (entry: Parameters<EntryTape['input']>[0], perform: () => void): void => {
        if (!isOver) tape.input(entry, perform);
      };
      const end = (perform: () => void) => (): void => {
        isOver = true;
        perform();
      };
      tape.output(called, () =>
        source$.pipe(takeUntil(gone$)).subscribe({
          next: (value) =>
            input(
              () => ({ kind: 'reply', call, ...(value !== undefined && { value: writer.write(value) }) }),
              () => subscriber.next(value),
            ),
          error: (error: unknown) =>
            input(
              () => ({ kind: 'failed', call, error: writer.writeError(error) }),
              end(() => subscriber.error(error)),
            ),
          complete: () =>
            input(
              () => ({ kind: 'completed', call }),
              end(() => subscriber.complete()),
            ),
        }),
      );
    });

  const recordCall = (port: string, rule: CallRule, real: Method): Method => {
    const writer = new ReplyWriter(rule, port, secrets);
    return (...args) => stream(real(...args) as Observable<unknown>, port, rule, writer, args);
  };

  const recordAsked = (port: string, rule: AskedRule, real: Method): Method => {
    const ask: Method = (...args) =>
      tape.ask(
        () => real(...args),
        (answer) => ({
          kind: 'asked',
          port,
          args: writtenArgs(rule, args, secrets),
          ...(answer !== undefined && { value: writtenAnswer(rule, answer, secrets) }),
        }),
      );
    return rule.isPure ? askedOnce(ask) : ask;
  };

  const recordTold =
    (port: string, rule: ToldRule, real: Method): Method =>
    (...args) =>
      tape.output(
        () => ({ kind: 'told', port, args: writtenArgs(rule, args, secrets) }),
        () => void real(...args),
      );

  const recordJournal =
    (real: RecordJournal): RecordJournal =>
    (record) =>
      tape.ask(
        () => real(record),
        (id) => ({ kind: 'journal', id, record: encodeValue(record, secrets.text) as JournalPlain }),
      );

  const recordScheduler = (real: SchedulerLike): SchedulerLike =>
    numberedScheduler({
      now: clock.now,
      set: (timer, delayMs) => {
        const number = ++timers;
        timer.number = number;
        tape.output(
          () => ({ kind: 'timer', timer: number, delayMs }),
          () =>
            arm(real, timer, delayMs, () =>
              tape.input(
                () => ({ kind: 'fired', timer: timer.number }),
                () => timer.fire(),
              ),
            ),
        );
      },
      cancel: ({ number, running }) =>
        tape.output(
          () => ({ kind: 'cancelled', timer: number }),
          () => running?.unsubscribe(),
        ),
    });

  const make =
    (root: object) =>
    (path: string, rule: PortRule): unknown => {
      const real = valueAt(root, path);
      switch (rule.kind) {
        case 'call':
          return recordCall(path, rule, methodAt(root, path));
        case 'asked':
          return recordAsked(path, rule, methodAt(root, path));
        case 'told':
          return recordTold(path, rule, methodAt(root, path));
        case 'journal':
          return recordJournal(real as RecordJournal);
        case 'scheduler':
          return recordScheduler(real as SchedulerLike);
        case 'wall-clock':
          return clock.wall;
        case 'sources':
          return Object.fromEntries(
            Object.entries(real as KubeletOptions['sources']).map(([name, event$]) => {
              const port = `sources.${name}`;
              return [name, stream(event$, port, SOURCE_RULE, new ReplyWriter(SOURCE_RULE, port, secrets), [])];
            }),
          );
        case 'stream':
          return stream(real as Observable<unknown>, path, STOP_RULE, new ReplyWriter(STOP_RULE, path, secrets), []);
        case 'fact':
        case 'code':
        case 'ignored':
          return real;
      }
    };
  const all = (rules: Parameters<typeof mapRules>[0], root: object): unknown =>
    mapRules(rules, (path) => valueAt(root, path) !== undefined, make(root));
  return {
    ports: all(PORT_RULES, ports) as KubeletPorts,
    options: all(OPTION_RULES, options) as KubeletOptions,
  };
};

/** The real scheduler reschedules the action, too, since it knows best how to go on. */
const arm = (real: SchedulerLike, timer: NumberedTimer, delayMs: number, fire: () => void): void => {
  const { running } = timer;
  if (running && !running.closed && isAction(running)) running.schedule(undefined, delayMs);
  else timer.running = real.schedule(fire, delayMs);
};

const isAction = (running: object): running is SchedulerAction<unknown> => 'schedule' in running;

/** The value at a path such as `runtime.version`. */
export const valueAt = (root: object, path: string): unknown =>
  path.split('.').reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], root);

/** A port may be a method of a class. */
const methodAt = (root: object, path: string): Method => {
  const parent = valueAt(root, path.split('.').slice(0, -1).join('.')) as object | undefined;
  const method = valueAt(root, path) as Method;
  return (...args) => method.apply(parent ?? root, [...args]);
};
