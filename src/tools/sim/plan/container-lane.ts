import type { JournalEntry } from '../../../model/journal/journal.js';
import { compactDuration } from '../../timeline/compact-duration.js';
import type { Lane, Mark } from '../../timeline/lanes.js';
import { linkTo } from './mark-link.js';
import type { ContainerPlan, InstancePlan, PodPlan } from './plan.js';
import type { PodTrace } from './pod-trace.js';

/** The pulls, waits and instances of one container, with their ends. */
export const containerLane = (
  container: ContainerPlan,
  { drain }: PodPlan,
  { pod, events, startMs }: PodTrace,
  endMs: number,
): Lane => {
  const { name, pulls, instances, backOffs } = container;
  const entries = events.flatMap(({ at, ...event }) =>
    event.kind === 'journal' && event.entry.container === name ? [{ ...event.entry, at: at - startMs }] : [],
  );
  const id = (what: string, index: number): string => `${pod.metadata.uid}/${name}/${what}/${index}`;
  const signals = (drain?.steps ?? []).filter((step) => step.container === name && step.what === 'stop-signal');
  const marks: readonly Mark[] = [
    ...pulls.map(({ fromMs, toMs, error }, index) => {
      const entry = findEntry(entries, (found) => found.kind === 'call' && found.call === 'PullImage', toMs);
      const took = compactDuration(toMs - fromMs);
      const text = error === undefined ? `pulled in ${took}` : `pull failed after ${took}: ${error}`;
      const severity = error === undefined ? ('note' as const) : ('error' as const);
      return {
        id: id('pull', index),
        at: fromMs,
        until: toMs,
        look: 'waiting' as const,
        label: 'pull',
        text,
        severity,
        ...linkTo(entry),
      };
    }),
    ...backOffs.map(({ atMs, untilMs, delayMs, step, steps, subject }, index): Mark => {
      const delay = compactDuration(delayMs);
      return {
        id: id('back-off', index),
        at: atMs,
        until: Math.min(untilMs, endMs),
        look: 'back-off',
        label: `back-off ${delay}`,
        text: `${subject === 'restart' ? 'restart' : 'pull'} put off by ${delay}, step ${step} of ${steps}`,
        severity: 'warning',
        ...linkTo(findEntry(entries, (found) => found.kind === 'back-off', atMs)),
      };
    }),
    ...instances.flatMap((instance, index) => instanceMarks(instance, { index, id, entries, endMs })),
    ...signals.map(({ atMs, graceSeconds }, index): Mark => {
      const end = instances.findLast(({ endedMs = endMs }) => endedMs >= atMs)?.endedMs ?? endMs;
      return {
        id: id('stopping', index),
        at: atMs,
        until: end,
        look: 'stopping',
        label: 'stopping',
        text: `asked to stop within ${graceSeconds ?? 0} s`,
        severity: 'note',
        causes: [],
      };
    }),
  ];
  return { kind: 'runtime', name, container: name, marks: marks.toSorted((one, other) => one.at - other.at) };
};

interface Place {
  readonly index: number;
  readonly id: (what: string, index: number) => string;
  readonly entries: readonly JournalEntry[];
  readonly endMs: number;
}

const instanceMarks = (
  { attempt, startedMs, endedMs, exitCode, endedBy, waitedMs }: InstancePlan,
  { index, id, entries, endMs }: Place,
): readonly Mark[] => {
  const wait = waitedMs === undefined ? '' : `, ${compactDuration(waitedMs)} after the end of the run before`;
  const runs = compactDuration((endedMs ?? endMs) - startedMs);
  const started = findEntry(entries, (entry) => entry.kind === 'call' && entry.call === 'StartContainer', startedMs);
  const died = findEntry(
    entries,
    (entry) => entry.kind === 'runtime-changed' && entry.change === 'ContainerDied',
    endedMs ?? Infinity,
  );
  const why = endedBy === 'liveness' || endedBy === 'startup' ? `, killed by its ${endedBy} probe` : '';
  return [
    {
      id: id('start', index),
      at: startedMs,
      look: 'start',
      label: 'start',
      text: attempt === 0 ? `started${wait}` : `started, restart ${attempt}${wait}`,
      severity: 'note',
      ...linkTo(started),
    },
    {
      id: id('running', index),
      at: startedMs,
      until: endedMs ?? endMs,
      look: 'running',
      label: 'running',
      text: `ran for ${runs}`,
      severity: 'quiet',
      causes: [],
      isOpen: endedMs === undefined,
    },
    ...(endedMs === undefined
      ? []
      : [
          {
            id: id('exit', index),
            at: endedMs,
            look: exitCode === 0 ? 'exit-good' : 'exit-bad',
            label: `exit ${exitCode}`,
            text: `ended with exit code ${exitCode} after ${runs}${why}`,
            severity: exitCode === 0 ? 'note' : endedBy === 'deletion' ? 'note' : 'error',
            ...linkTo(died),
          } as const satisfies Mark,
        ]),
  ];
};

/** The first matching entry from then on: an entry is written at the end of its event. */
const findEntry = (
  entries: readonly JournalEntry[],
  fits: (entry: JournalEntry) => boolean,
  atMs: number,
): JournalEntry | undefined => entries.find((entry) => entry.at >= atMs && fits(entry));
