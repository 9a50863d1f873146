import { type Mark, marksOf, type Timeline } from './lanes.js';

/** A stretch of routine only, drawn as its duration. */
export interface Fold {
  readonly from: number;
  readonly until: number;
  /** The number of folded marks by name, in the singular. */
  readonly routine: ReadonlyMap<string, number>;
}

/** The available width, in columns of a terminal or in pixels. */
export interface Room {
  readonly columns: number;
  /** The width of a fold of this duration. */
  readonly foldColumns: (ms: number) => number;
  /** The least width of each stretch between two folds. */
  readonly leastColumns: number;
}

/** A fold has to save this many times its own width. */
const WORTH = 2;
/** Folds and the least widths between them take at most this part of the whole. */
const LARGEST_PART = 0.7;
const SHORTEST_MS = 2000;

/**
 * Returns the quiet stretches to fold for the available width, in order. The longest come first, as long as a fold
 * gives the rest more width than it takes. All marks except routine begin and end outside of folds; spans may pass
 * through them.
 */
export const chooseFolds = (timeline: Timeline, { columns, foldColumns, leastColumns }: Room): readonly Fold[] => {
  const chosen: Stretch[] = [];
  let leftMs = timeline.until - timeline.from;
  let taken = leastColumns;
  for (const stretch of quietStretches(timeline).toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const ms = lengthOf(stretch);
    if (ms < SHORTEST_MS) break;
    const width = foldColumns(ms);
    const drawnOpen = (ms / leftMs) * (columns - taken);
    if (drawnOpen < WORTH * width || taken + width + leastColumns > LARGEST_PART * columns) break;
    chosen.push(stretch);
    leftMs -= ms;
    taken += width + leastColumns;
  }
  return foldsOf(timeline, chosen);
};

interface Stretch {
  readonly from: number;
  readonly until: number;
}
const lengthOf = ({ from, until }: Stretch): number => until - from;

/** The stretches between two begins or ends of marks that are no routine. */
const quietStretches = (timeline: Timeline): readonly Stretch[] => {
  const bounds = new Set([timeline.from, timeline.until]);
  for (const { at, until, isOpen, routine } of marksOf(timeline)) {
    if (routine !== undefined) continue;
    bounds.add(at);
    if (until !== undefined && !isOpen) bounds.add(until);
  }
  const sorted = [...bounds].toSorted((one, other) => one - other);
  return sorted.slice(1).map((until, index) => ({ from: sorted[index]!, until }));
};

const foldsOf = (timeline: Timeline, stretches: readonly Stretch[]): readonly Fold[] => {
  const sorted = stretches.toSorted((one, other) => one.from - other.from);
  const tallies = sorted.map(() => new Map<string, number>());
  for (const { at, routine } of marksOf(timeline).filter(isRoutine)) {
    const tally = tallies[indexOfStretch(sorted, at)];
    tally?.set(routine, (tally.get(routine) ?? 0) + 1);
  }
  return sorted.map(({ from, until }, index) => ({
    from,
    until,
    routine: tallies[index] ?? new Map<string, number>(),
  }));
};

const isRoutine = (mark: Mark): mark is Mark & { readonly routine: string } => mark.routine !== undefined;

/** -1 if `at` is in none of them. Both ends are drawn. */
const indexOfStretch = (sorted: readonly Stretch[], at: number): number => {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const { from, until } = sorted[middle]!;
    if (at > from && at < until) return middle;
    if (at <= from) high = middle - 1;
    else low = middle + 1;
  }
  return -1;
};

/** `58 relists, 1 idle sync`; empty if the fold contains no mark. */
export const tallyText = ({ routine }: Pick<Fold, 'routine'>): string =>
  [...routine].map(([name, count]) => (count === 1 ? `1 ${name}` : `${count} ${plural(name)}`)).join(', ');

const plural = (name: string): string => (name.endsWith('s') ? `${name}es` : `${name}s`);
