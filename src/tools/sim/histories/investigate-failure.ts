import type { JournalEntry } from '../../../model/journal/journal.js';
import { explainWhy } from '../../why/why.js';
import type { Violation } from '../invariants/monitor.js';
import type { WorldEvent } from '../world/world-event.js';
import { describeHistory, time } from './describe-history.js';
import { type History, HISTORY_START_MS } from './history.js';
import { runHistory, type RunOptions } from './run-history.js';
import { shrinkHistory } from './shrink-history.js';

export interface FailureReport {
  /** The shortest history that still violates the same invariant. */
  readonly history: History;
  /** The violations of that history. */
  readonly violation: Violation;
  /** The number of histories that were tried. */
  readonly runs: number;
  /** The full report for the developer who looks for the reason. */
  readonly lines: readonly string[];
}

/** The number of the pod's last events that are shown. */
const TRACE_LENGTH = 40;

/**
 * Makes a failing history as short as possible, and reports it: the desired pods, the faults, the events of the pod,
 * and the explanation of its journal. Undefined without a violation.
 */
export const investigateFailure = (
  history: History,
  { maxRuns, ...run }: RunOptions & { readonly maxRuns?: number } = {},
): FailureReport | undefined => {
  const found = runHistory(history, run).violations[0];
  if (!found) return undefined;
  const violationIn = (candidate: History): Violation | undefined =>
    runHistory(candidate, run).violations.find(({ invariant }) => invariant === found.invariant);
  const shrunk = shrinkHistory(history, { fails: (candidate) => violationIn(candidate) !== undefined, maxRuns });

  const entries: JournalEntry[] = [];
  const events: WorldEvent[] = [];
  const { violations } = runHistory(shrunk.history, {
    ...run,
    tell: (event) => {
      if (event.kind === 'journal') entries.push(event.entry);
      events.push(event);
    },
  });
  const violation = violations.find(({ invariant }) => invariant === found.invariant) ?? found;
  return { ...shrunk, violation, lines: linesOf(shrunk.history, violation, { entries, events }) };
};

const linesOf = (
  history: History,
  violation: Violation,
  { entries, events }: { readonly entries: readonly JournalEntry[]; readonly events: readonly WorldEvent[] },
): readonly string[] => {
  const { uid } = violation;
  const now = entries.at(-1)?.at ?? violation.at;
  return [
    'the shortest history that still fails:',
    ...describeHistory(history).map(indent),
    `what happened last${uid === undefined ? '' : ' to the pod'}:`,
    ...traceOf(events, uid).map(indent),
    ...(uid !== undefined && entries.some(({ pod }) => pod?.uid === uid)
      ? ['why, as the journal has it:', ...explainWhy({ entries, pod: uid, now }).map(indent)]
      : []),
  ];
};

const indent = (line: string): string => `  ${line}`;

/** The last events of the world; only those that name the pod, if one is given. */
const traceOf = (events: readonly WorldEvent[], uid: string | undefined): readonly string[] => {
  const isAboutMachine = new Set<WorldEvent['kind']>([
    ...(['agent-started', 'agent-killed', 'runtime-stopped', 'runtime-started'] as const),
  ]);
  const ids = new Set(uid === undefined ? [] : [uid]);
  const numbers = new Set<number>();
  const isMeant = (event: WorldEvent): boolean => {
    if (uid === undefined || isAboutMachine.has(event.kind)) return true;
    if ('uid' in event && event.uid === uid) {
      if ('containerId' in event) ids.add(event.containerId);
      if ('sandboxId' in event) ids.add(event.sandboxId);
      return true;
    }
    if (event.kind === 'journal') return event.entry.pod?.uid === uid;
    if (event.kind === 'call') {
      const text = JSON.stringify(event.request, plain);
      const isOwn = [...ids].some((id) => text.includes(id));
      if (isOwn) numbers.add(event.number);
      return isOwn;
    }
    if (event.kind === 'call-ended' || event.kind === 'call-given-up') return numbers.has(event.number);
    return false;
  };
  return events
    .filter(isMeant)
    .slice(-TRACE_LENGTH)
    .map((event) => `${time(event.at - HISTORY_START_MS)}  ${eventText(event)}`);
};

const eventText = (event: WorldEvent): string => {
  if (event.kind === 'journal') {
    const { kind, id, causes, ...rest } = event.entry;
    return `journal ${id} ${kind} ${shortText({ ...rest, at: undefined, pod: undefined })}${causes.length > 0 ? ` <- ${causes.join(' ')}` : ''}`;
  }
  if (event.kind === 'status') {
    return `status ${shortText(event.pod?.status)}`;
  }
  const { kind, ...rest } = event;
  return `${kind} ${shortText({ ...rest, at: undefined })}`;
};

const LONGEST = 300;

const shortText = (value: unknown): string => {
  const text = JSON.stringify(value, plain) ?? '';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

const plain = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
