import type { Pod } from '../../model/pod/pod.js';
import type { Note } from '../kubelet/kubelet-handle.js';
import { type PodRow, podRow } from './pod-row.js';
import { podTable } from './pod-table.js';

export interface Frame {
  readonly pods: readonly Pod[];
  /** The newest last. */
  readonly notes: readonly Note[];
  /** Manifests that cannot be used, one line each. */
  readonly refused?: readonly string[];
}

export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** The largest share of a screen for refused manifests. */
const REFUSED_SHARE = 1 / 4;
/** The number of newest events on a screen that is too small. */
const NOTES_KEPT = 3;

/**
 * A frame as text that fits: the table, the refused manifests, and the latest events. If the screen is too small, pods
 * with problems come before the others, and the omitted lines are counted.
 */
export const frameText = ({ pods, notes, refused = [] }: Frame, now: number, { width, height }: FrameSize): string => {
  const budget = Math.max(3, height);
  const refusedLines = atMost(refused, Math.max(1, Math.floor(budget * REFUSED_SHARE)), 'refused manifests');
  const noteTexts = notes.map(({ level, text }) => withoutUids(level === 'info' ? text : `${level}: ${text}`));
  const forOthers = budget - refusedLines.length - (pods.length === 0 ? 1 : pods.length + 1);
  const keptNotes = budget >= 12 ? NOTES_KEPT : 0;
  // One empty line precedes them.
  const noteCount = Math.min(noteTexts.length, Math.max(keptNotes, forOthers - 1));
  const noteLines = noteCount > 0 ? ['', ...noteTexts.slice(-noteCount)] : [];
  const podLines = tableLines(
    pods.map((pod) => podRow(pod, now)),
    { width, height: budget - refusedLines.length - noteLines.length },
  );
  return [...podLines, ...refusedLines, ...noteLines].map((line) => cut(line, width)).join('\n');
};

/** The first lines, and a line with the count of the others. */
const atMost = (lines: readonly string[], most: number, what: string): readonly string[] => {
  if (lines.length <= most) return lines.map((line) => `refused: ${line}`);
  const shown = lines.slice(0, most - 1).map((line) => `refused: ${line}`);
  return [...shown, `${lines.length - shown.length} ${shown.length > 0 ? 'more ' : ''}${what}`];
};

const tableLines = (rows: readonly PodRow[], { width, height }: FrameSize): readonly string[] => {
  if (rows.length === 0) return ['No pods yet.'];
  if (rows.length + 1 <= height) return fittingTable(rows, width);
  const room = Math.max(0, height - 2);
  const shown = rows.toSorted((a, b) => Number(isWell(a)) - Number(isWell(b))).slice(0, room);
  const hidden = rows.filter((row) => !shown.includes(row));
  return [...(room > 0 ? fittingTable(shown, width) : []), hiddenText(hidden, shown.length > 0)].slice(0, height);
};

const isWell = ({ status, ready }: PodRow): boolean => {
  const [have, all] = ready.split('/');
  return status === 'Completed' || (status === 'Running' && have === all);
};

/** `14 more pods: 13 Running, 1 Completed`. */
const hiddenText = (rows: readonly PodRow[], areMore: boolean): string => {
  const counts = new Map<string, number>();
  for (const { status } of rows) counts.set(status, (counts.get(status) ?? 0) + 1);
  const states = [...counts].toSorted(([, a], [, b]) => b - a).map(([status, count]) => `${count} ${status}`);
  return `${rows.length} ${areMore ? 'more ' : ''}${rows.length === 1 ? 'pod' : 'pods'}: ${states.join(', ')}`;
};

/** Columns that can be left out of a table, the least important first. */
const LESS: readonly (readonly (keyof PodRow)[])[] = [
  [],
  ['namespace'],
  ['namespace', 'age'],
  ['namespace', 'age', 'restarts'],
];

const fittingTable = (rows: readonly PodRow[], width: number): readonly string[] => {
  const tables = LESS.map((without) => podTable(rows, 'narrow', without).split('\n'));
  const longest = (lines: readonly string[]) => Math.max(...lines.map(({ length }) => length));
  const fitting = tables.find((lines) => longest(lines) <= width);
  if (fitting) return fitting;
  // The status is more important than the end of a long name.
  const smallest = tables.at(-1) ?? [];
  const names = Math.max(...rows.map(({ name }) => name.length));
  const room = Math.max(8, names - (longest(smallest) - width));
  return podTable(
    rows.map((row) => ({ ...row, name: cut(row.name, room) })),
    'narrow',
    LESS.at(-1),
  ).split('\n');
};

const cut = (line: string, width: number): string =>
  line.length > width ? `${line.slice(0, Math.max(0, width - 1))}…` : line;

/** A UID needs the space of the message; the name identifies the pod. */
const withoutUids = (text: string): string => text.replace(/\([0-9a-f-]{32,36}\)/g, '');
