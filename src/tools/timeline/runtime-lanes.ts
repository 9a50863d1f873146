import type { JournalEntry } from '../../model/journal/journal.js';
import { isTerminalPhase } from '../../model/pod/pod.js';
import { endText } from '../why/describe-entry.js';
import { compactDuration } from './compact-duration.js';
import type { Lane, Mark } from './lanes.js';
import { endOfRun, inTimeOrder, markOf, type PodEntries } from './pod-entries.js';

/** One lane for the sandbox and one for each container: waiting, created, running, and its end. */
export const runtimeLanes = (entries: PodEntries): readonly Lane[] => {
  const { own } = entries;
  const containers = [...new Set(own.flatMap(({ container }) => container ?? []))];
  const hasSandbox = own.some((entry) => isSandboxStart(entry) || isSandboxEnd(entry));
  return [
    ...(hasSandbox ? [{ kind: 'runtime' as const, name: 'sandbox', marks: sandboxMarks(entries) }] : []),
    ...containers.map((container) => ({
      kind: 'runtime' as const,
      name: container,
      container,
      marks: containerMarks(
        own.filter((entry) => entry.container === container),
        entries,
      ),
    })),
  ];
};

const isCall = (entry: JournalEntry, call: string): boolean =>
  entry.kind === 'call' && entry.call === call && entry.error === undefined;
const isChange = (entry: JournalEntry, change: string): boolean =>
  entry.kind === 'runtime-changed' && entry.change === change;

const isSandboxStart = (entry: JournalEntry): boolean =>
  isCall(entry, 'RunPodSandbox') || (entry.container === undefined && isChange(entry, 'ContainerStarted'));
const isSandboxEnd = (entry: JournalEntry): boolean =>
  isCall(entry, 'StopPodSandbox') || (entry.container === undefined && isChange(entry, 'ContainerDied'));

const sandboxMarks = ({ own, until }: PodEntries): readonly Mark[] => {
  const marks: Mark[] = [];
  let ready: JournalEntry | undefined;
  for (const entry of own) {
    if (isSandboxStart(entry)) ready ??= entry;
    if (!isSandboxEnd(entry) || !ready) continue;
    marks.push(
      sandboxSpan(ready, entry.at, entry),
      markOf(entry, {
        id: `${entry.id}.sandbox`,
        look: 'kill',
        label: 'stopped',
        text: 'the sandbox stopped',
        severity: 'quiet',
      }),
    );
    ready = undefined;
  }
  if (ready) marks.push({ ...sandboxSpan(ready, until), isOpen: true });
  return inTimeOrder(marks);
};

const sandboxSpan = (start: JournalEntry, until: number, end?: JournalEntry): Mark =>
  markOf(start, {
    id: `${start.id}.sandbox`,
    look: 'running',
    label: 'ready',
    text: `the sandbox was ready${end ? ` for ${compactDuration(until - start.at)}` : ''}`,
    severity: 'quiet',
    until,
    ...(end ? { endedBy: end.id } : {}),
  });

/** The state of the container while its entries are read. */
interface State {
  readonly waitingSince?: JournalEntry;
  readonly created?: JournalEntry;
  readonly running?: JournalEntry;
  readonly starts: number;
  /** The entry by which the container waits, and has not only ended. */
  readonly wantedBy?: JournalEntry;
}

const containerMarks = (own: readonly JournalEntry[], entries: PodEntries): readonly Mark[] => {
  const marks: Mark[] = [];
  const dead = new Set<string>();
  const first = entries.own.find((entry) => entry.kind === 'sync-started' && entry.work === 'sync');
  const isFirst = first !== undefined && first.at <= (own[0]?.at ?? first.at);
  let state: State = { starts: 0, ...(isFirst ? { waitingSince: first } : {}) };
  const endWaiting = (end: JournalEntry): void => {
    if (state.waitingSince) marks.push(waitingSpan(state.waitingSince, Math.max(state.waitingSince.at, end.at), end));
    state = { ...state, waitingSince: undefined };
  };
  const start = (entry: JournalEntry): void => {
    endWaiting(entry);
    if (state.created) marks.push(createdSpan(state.created, entry.at));
    state = { running: entry, starts: state.starts + 1 };
    marks.push(startMark(entry, state.starts));
  };
  for (const entry of own) {
    if (isCall(entry, 'CreateContainer')) {
      endWaiting(entry);
      state = { ...state, created: entry };
    } else if (isCall(entry, 'StartContainer')) {
      start(entry);
    } else if (isChange(entry, 'ContainerStarted') && !state.running) {
      start(entry);
    } else if (entry.kind === 'runtime-changed' && entry.change === 'ContainerDied') {
      // An agent at its start finds ends that an earlier one has seen.
      if (dead.has(entry.containerId)) {
        marks.push(knownExitMark(entry));
        continue;
      }
      dead.add(entry.containerId);
      // An instance without a seen start has been running since before, and did not wait.
      if (state.running) marks.push(runningSpan(state.running, entry.at, state.starts, entry));
      marks.push(exitMark(entry));
      state = { starts: state.starts, waitingSince: entry };
    } else if (entry.kind === 'back-off' || isFailedCall(entry)) {
      state = { ...state, wantedBy: entry };
    }
    if (entry.kind === 'call' && entry.call === 'StopContainer') marks.push(stopMark(entry));
    if (isChange(entry, 'ContainerRemoved')) {
      marks.push(
        markOf(entry, {
          look: 'tick',
          label: 'removed',
          text: 'a dead instance was removed',
          severity: 'quiet',
          routine: 'removal',
        }),
      );
    }
  }
  return inTimeOrder([...marks, ...openSpans(state, entries)]);
};

const isFailedCall = (entry: JournalEntry): boolean => entry.kind === 'call' && entry.error !== undefined;

/**
 * Spans without an end: they go on to the end of the timeline, and waiting only until the pod is not desired any more.
 */
const openSpans = (
  { running, created, waitingSince, starts, wantedBy }: State,
  entries: PodEntries,
): readonly Mark[] => {
  const { until } = entries;
  if (running) return [{ ...runningSpan(running, until, starts), isOpen: true }];
  if (created) return [{ ...createdSpan(created, until), isOpen: true }];
  if (!waitingSince || !wantedBy) return [];
  const over = entries.own.find(
    (entry) =>
      entry.at >= waitingSince.at &&
      ((entry.kind === 'sync-started' && entry.work !== 'sync') ||
        entry.kind === 'forgotten' ||
        isSandboxEnd(entry) ||
        (entry.kind === 'phase' && isTerminalPhase(entry.to))),
  );
  if (over) return [waitingSpan(waitingSince, over.at, over)];
  const end = endOfRun(wantedBy.at, entries);
  return [{ ...waitingSpan(waitingSince, end.until), ...end }];
};

const waitingSpan = (since: JournalEntry, until: number, end?: JournalEntry): Mark =>
  markOf(since, {
    id: `${since.id}.waiting.${end?.id ?? ''}`,
    look: 'waiting',
    label: 'waiting',
    text: `it waited to be started for ${compactDuration(until - since.at)}`,
    severity: 'quiet',
    until,
    ...(end ? { endedBy: end.id } : {}),
  });

const createdSpan = (created: JournalEntry, until: number): Mark =>
  markOf(created, {
    id: `${created.id}.created`,
    look: 'created',
    label: 'created',
    text: `created, and not started for ${compactDuration(until - created.at)}`,
    severity: 'quiet',
    until,
  });

const runningSpan = (start: JournalEntry, until: number, count: number, end?: JournalEntry): Mark =>
  markOf(start, {
    id: `${start.id}.running`,
    look: 'running',
    label: count === 1 ? 'running' : `run ${count}`,
    text: `run ${count} ${end ? 'took' : 'has taken'} ${compactDuration(until - start.at)}`,
    severity: 'quiet',
    until,
    ...(end ? { endedBy: end.id } : {}),
  });

const startMark = (entry: JournalEntry, count: number): Mark =>
  markOf(entry, {
    look: 'start',
    label: 'start',
    severity: 'good',
    ...(count > 1 ? { text: `started ${entry.container}, the ${ordinal(count)} time` } : {}),
  });

const exitMark = (entry: Extract<JournalEntry, { kind: 'runtime-changed' }>): Mark => {
  const isGood = entry.exitCode === 0;
  const words = entry.message?.trim();
  return markOf(entry, {
    look: isGood ? 'exit-good' : 'exit-bad',
    label: entry.exitCode === undefined ? 'ended' : `exit ${entry.exitCode}`,
    text: `${entry.container} ${endText(entry)}${words ? `\n${words}` : ''}`,
    severity: isGood ? 'note' : 'error',
  });
};

const knownExitMark = (entry: JournalEntry): Mark =>
  markOf(entry, {
    look: 'tick',
    label: 'known exit',
    severity: 'quiet',
    routine: 'known exit',
    text: 'its earlier end was found again',
  });

const stopMark = (entry: Extract<JournalEntry, { kind: 'call' }>): Mark =>
  markOf(entry, {
    id: `${entry.id}.stop`,
    at: entry.at - entry.durationMs,
    look: 'kill',
    label: 'stop',
    text: `${entry.container ?? 'a container'} was asked to stop`,
    severity: 'warning',
  });

const ordinal = (count: number): string => {
  const ending = count % 100 >= 11 && count % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${count}${ending}`;
};
