import { Observable, Subject, takeUntil } from 'rxjs';
import type { Kubelet, KubeletOptions, KubeletPorts } from '../../kubelet-options.js';
import { errorText } from '../../model/cri/cri-error.js';
import { encodeValue } from './entries/encode-value.js';
import { EntryTape } from './entries/entry-tape.js';
import { isRule, OPTION_RULES, PORT_RULES, type PortRule, type PortRules } from './ports/port-table.js';
import type { Plain, RecordingEntry, RecordingHeader } from './entries/recording-entry.js';
import { recordPorts, valueAt } from './ports/record-ports.js';
import { SecretKeeper } from './secrets/secret-keeper.js';
import { StepClock } from './entries/step-clock.js';

/** The function `kubelet` of src/kubelet.ts, or one with the same signature. */
export type MakeKubelet = (ports: KubeletPorts, options: KubeletOptions) => Kubelet;

export interface RecordOptions {
  /** Receives the header first, then every entry in order, synchronously. Must not throw. */
  readonly write: (entry: RecordingEntry) => void;
  /** Whether entries are still wanted; after the first false it is not called again. Always by default. */
  readonly isOpen?: () => boolean;
  /** The program that writes the recording, such as `rx-kubelet 1.2.3`. */
  readonly by: string;
  /** Texts that must not be written although no port declares them as secret, such as a header of a source. */
  readonly secrets?: readonly string[];
}

type Outcome = Kubelet['outcome$'] extends Observable<infer T> ? T : never;

/**
 * Wraps `makeKubelet` so that all values between the kubelet and its ports are written down and `replay` can play them
 * again. The kubelet behaves as without a recorder, except that its clocks stand still while it handles one input.
 *
 * Not written: registry passwords and tokens, secrets of the API, hashes of them, and the texts in `secrets`; `<secret
 * 3>` replaces them. Written unchanged: all texts of manifests, such as plain values of `env`, headers of probes and
 * command lines; the output of probes and termination messages; user names of registries. Metrics and the log are left
 * out.
 *
 * Errors: none of its own; an entry that cannot be written ends the recording with an entry `cut`. A recording is one
 * run of an agent: a second subscription of `outcome$` fails.
 */
export const recordKubelet = (
  makeKubelet: MakeKubelet,
  ports: KubeletPorts,
  options: KubeletOptions,
  { write, isOpen = () => true, by, secrets = [] }: RecordOptions,
): Kubelet => {
  const clock = new StepClock(ports.scheduler.now.bind(ports.scheduler), ports.wallClock);
  const tape = new EntryTape({ write, isOpen, clock });
  const keeper = new SecretKeeper();
  const header = headerOf(ports, options, { by, startedAt: clock.startedAt });
  keeper.publish('facts', [header.facts, header.options]);
  for (const secret of secrets) keeper.learn(secret);
  write(header);

  let kubelet!: Kubelet;
  const recorded = recordPorts(ports, options, { tape, clock, secrets: keeper });
  tape.input(
    () => ({ kind: 'made' }),
    () => (kubelet = makeKubelet(recorded.ports, recorded.options)),
  );

  let hasStarted = false;
  const outcome$ = new Observable<Outcome>((subscriber) => {
    if (hasStarted)
      return subscriber.error(new Error('a recording is one run of an agent; this one was started before'));
    hasStarted = true;
    const gone$ = new Subject<void>();
    let isOver = false;
    subscriber.add(() => {
      if (isOver) return;
      isOver = true;
      tape.input(
        () => ({ kind: 'ended' }),
        () => gone$.next(),
      );
    });
    const over = (error: unknown, perform: () => void): void => {
      if (isOver) return;
      isOver = true;
      tape.output(
        () => ({ kind: 'over', ...(error !== undefined && { error: encodeValue(error, keeper.text) }) }),
        perform,
      );
    };
    tape.input(
      () => ({ kind: 'started' }),
      () =>
        kubelet.outcome$.pipe(takeUntil(gone$)).subscribe({
          next: (outcome) =>
            tape.output(
              () => ({ kind: 'outcome', outcome: encodeValue(writtenOutcome(outcome), keeper.text) }),
              () => subscriber.next(outcome),
            ),
          error: (error: unknown) => over(error, () => subscriber.error(error)),
          complete: () => over(undefined, () => subscriber.complete()),
        }),
    );
  });
  return { ...kubelet, outcome$ };
};

/** The fields of an outcome that no other entry has. The message of a wait is written as an error, as in the first recordings. */
export const writtenOutcome = ({ error, wait, run: _, ...outcome }: Outcome): object => ({
  ...outcome,
  ...(error !== undefined && { error: errorText(error) }),
  ...(wait && { error: wait.message }),
});

const headerOf = (
  ports: KubeletPorts,
  options: KubeletOptions,
  about: Pick<RecordingHeader, 'by' | 'startedAt'>,
): RecordingHeader => {
  const [ofPorts, ofOptions] = [surveyOf(PORT_RULES, ports), surveyOf(OPTION_RULES, options)];
  return {
    kind: 'recording',
    format: 1,
    ...about,
    facts: ofPorts.facts,
    options: ofOptions.facts,
    code: ofOptions.code,
    // An option may be called like a group of ports.
    absent: [...ofPorts.absent, ...ofOptions.absent.map((name) => `options.${name}`)],
    sources: Object.keys(options.sources),
  };
};

interface Survey {
  readonly facts: Record<string, Plain>;
  readonly code: string[];
  readonly absent: string[];
}

const surveyOf = (
  rules: PortRules,
  root: object,
  prefix = '',
  survey: Survey = { facts: {}, code: [], absent: [] },
): Survey => {
  for (const [name, rule] of Object.entries<PortRule | PortRules>(rules)) {
    const path = `${prefix}${name}`;
    const value = valueAt(root, path);
    if (value === undefined) survey.absent.push(path);
    else if (!isRule(rule)) surveyOf(rule, root, `${path}.`, survey);
    else if (rule.kind === 'fact') survey.facts[path] = encodeValue(value);
    else if (rule.kind === 'code') survey.code.push(path);
  }
  return survey;
};
