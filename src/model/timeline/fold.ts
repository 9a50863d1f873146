import { type Mark, marksOf, type Timeline } from './lanes.js';

/** A stretch in which nothing but routine happens, drawn as its duration only. */
export interface Fold {
  readonly from: number;
  readonly until: number;
  /** What is folded away, by its name in the singular. */
  readonly routine: ReadonlyMap<string, number>;
}

/** How much room there is, in columns of a terminal or in pixels. */
export interface Room {
  readonly columns: number;
  /** What a fold of such a duration takes. */
  readonly foldColumns: (ms: number) => number;
  /** What is left to each stretch between two folds, however short it is. */
  readonly leastColumns: number;
}

/** A fold has to save so many times the room that it takes. */
const WORTH = 2;
/** Folds and the least room of what is between them take at most this part of the whole. */
const LARGEST_PART = 0.7;
const SHORTEST_MS = 2000;

/**
 * The quiet stretches that are worth folding in so much room, in order: the longest first, as long as folding one gives the
 * rest more room than the fold takes. Whatever is no routine begins and ends outside of folds; spans may pass through them.
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

/** The stretches between two instants at which something begins or ends that is no routine. */
export const quietStretches = (timeline: Timeline): readonly Stretch[] => {
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

/** -1 when `at` is in none of them. Both ends belong to what is drawn. */
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

/** `58 relists, 1 idle sync`; empty when nothing is folded away but time. */
export const tallyText = ({ routine }: Pick<Fold, 'routine'>): string =>
  [...routine].map(([name, count]) => (count === 1 ? `1 ${name}` : `${count} ${plural(name)}`)).join(', ');

const plural = (name: string): string => (name.endsWith('s') ? `${name}es` : `${name}s`);
