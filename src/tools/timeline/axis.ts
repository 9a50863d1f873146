import type { Fold, Room } from './fold.js';

/** A part of the axis: drawn to scale, or folded. */
export interface Segment {
  readonly from: number;
  readonly until: number;
  /** First column, and the column after the last one. */
  readonly start: number;
  readonly end: number;
  readonly fold?: Fold;
}

export interface Axis {
  readonly columns: number;
  readonly segments: readonly Segment[];
}

/**
 * Distributes the columns: folds get the columns that they need, all stretches between them have one scale and a
 * minimum width.
 */
export const axisOf = (
  { from, until }: { readonly from: number; readonly until: number },
  folds: readonly Fold[],
  { columns, foldColumns, leastColumns }: Room,
): Axis => {
  const parts = partsOf(from, until, folds);
  const open = parts.filter(({ fold }) => !fold);
  const openMs = open.reduce((sum, part) => sum + part.until - part.from, 0);
  const foldWidth = folds.reduce((sum, fold) => sum + foldColumns(fold.until - fold.from), 0);
  const spare = Math.max(0, columns - foldWidth - open.length * leastColumns);
  let cursor = 0;
  let passedMs = 0;
  let passedColumns = 0;
  let passedParts = 0;
  const segments = parts.map((part): Segment => {
    const start = cursor;
    if (part.fold) cursor += foldColumns(part.until - part.from);
    else {
      passedMs += part.until - part.from;
      // Rounded as a sum, so that the parts never exceed the whole.
      const share = Math.round(openMs === 0 ? (spare * ++passedParts) / open.length : (spare * passedMs) / openMs);
      cursor += leastColumns + share - passedColumns;
      passedColumns = share;
    }
    return { ...part, start, end: cursor };
  });
  return { columns, segments };
};

const partsOf = (from: number, until: number, folds: readonly Fold[]): Omit<Segment, 'start' | 'end'>[] => {
  const parts: Omit<Segment, 'start' | 'end'>[] = [];
  let cursor = from;
  for (const fold of folds) {
    parts.push({ from: cursor, until: fold.from }, { from: fold.from, until: fold.until, fold });
    cursor = fold.until;
  }
  return [...parts, { from: cursor, until }];
};

/** The segment that draws an instant: an instant at the edge of a fold is drawn beside it. */
export const segmentAt = ({ segments }: Axis, at: number): Segment =>
  first(segments, ({ until, fold }) => (fold ? at < until : at <= until));

/**
 * Returns the position of an instant on the axis, in columns from its left end. An instant outside of the axis is at
 * its ends.
 */
export const positionOf = (axis: Axis, at: number): number => {
  const { from, until, start, end } = segmentAt(axis, at);
  if (at <= from) return start;
  return at >= until ? end : start + ((at - from) / (until - from)) * (end - start);
};

/** Returns the instant at such a position. */
export const timeAt = ({ segments }: Axis, position: number): number => {
  const { from, until, start, end } = first(segments, (segment) => position <= segment.end);
  if (position <= start || end === start) return from;
  return position >= end ? until : from + ((position - start) / (end - start)) * (until - from);
};

/** The first segment that fits, else the last one. Once one fits, all that follow do. */
const first = (segments: readonly Segment[], fits: (segment: Segment) => boolean): Segment => {
  let low = 0;
  let high = segments.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(segments[middle]!)) high = middle;
    else low = middle + 1;
  }
  return segments[low]!;
};
