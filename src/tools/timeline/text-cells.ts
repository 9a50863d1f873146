import { type Axis, segmentAt } from './axis.js';
import { printableLine, textWidth } from './fit-text.js';
import { isNotable, type Mark, type Severity, severityRank } from './lanes.js';
import { INSTANT_LOOKS, type Look, lookOf } from './looks.js';

/** One column of a lane. */
export interface Cell {
  readonly glyph: string;
  readonly style: Severity | 'fold';
  readonly mark?: Mark;
  /** The only visible cell of the mark; less important marks must not overwrite it. */
  readonly isGuarded: boolean;
}

/** A part of the axis that is drawn as one row. */
export interface Band {
  readonly start: number;
  readonly end: number;
}

export type Charset = 'unicode' | 'ascii';

const BLANK: Cell = { glyph: ' ', style: 'quiet', isGuarded: false };

/** The column of an instant. At the edge of a fold it is the one beside the fold. */
export const columnAt = (axis: Axis, at: number): number => {
  const { from, until, start, end } = segmentAt(axis, at);
  if (at <= from || until === from) return start;
  const column = Math.floor(start + ((at - from) / (until - from)) * (end - start));
  return Math.max(start, Math.min(end - 1, column));
};

/**
 * Draws the columns of one lane: long spans beneath short ones, instants on top, labels in spans with room. An
 * important mark is visible unless an equally important one is in the same column; routine in folds is not drawn.
 */
export const laneCells = (
  marks: readonly Mark[],
  axis: Axis,
  bands: readonly Band[],
  charset: Charset,
): readonly Cell[] => {
  const cells = Array.from({ length: axis.columns }, () => BLANK);
  const isDrawn = ({ at, routine }: Mark): boolean => routine === undefined || !segmentAt(axis, at).fold;
  const drawn = marks.filter(isDrawn);
  const put = (column: number, cell: Cell): void => {
    const below = cells[column];
    if (!below || !cell.mark) return;
    const mattersLess = below.isGuarded && below.mark && severityRank(cell.mark) < severityRank(below.mark);
    // It also represents the marks that it covers.
    if (!mattersLess) cells[column] = { ...cell, isGuarded: cell.isGuarded || below.isGuarded };
  };
  const spans = drawn.filter(({ until }) => until !== undefined);
  for (const mark of spans.toSorted((one, other) => lengthOf(other) - lengthOf(one)))
    drawSpan(mark, axis, charset, put);
  const instants = drawn.filter(({ until, look }) => until === undefined && look !== 'tick');
  for (const mark of instants.toSorted((one, other) => severityRank(one) - severityRank(other))) {
    put(columnAt(axis, mark.at), cellOf(mark, lookOf(mark), charset, isNotable(mark)));
  }
  for (const mark of ticksWorthDrawing(drawn, axis)) {
    const column = columnAt(axis, mark.at);
    if (cells[column] === BLANK || isNotable(mark)) put(column, cellOf(mark, lookOf(mark), charset, isNotable(mark)));
  }
  for (const mark of spans) for (const band of bands) writeLabel(mark, axis, band, cells);
  return cells;
};

/** Side by side along the whole lane, they carry no information. */
const ticksWorthDrawing = (marks: readonly Mark[], axis: Axis): readonly Mark[] => {
  const ticks = marks.filter(({ until, look }) => until === undefined && look === 'tick');
  const isSparse = ticks.length <= axis.columns / COLUMNS_PER_TICK;
  return isSparse ? ticks : ticks.filter(isNotable);
};
const COLUMNS_PER_TICK = 6;

type Put = (column: number, cell: Cell) => void;

const lengthOf = ({ at, until }: Mark): number => (until ?? at) - at;

const cellOf = (mark: Mark, look: Look, charset: Charset, isGuarded: boolean): Cell => ({
  glyph: look[charset],
  style: mark.severity,
  mark,
  isGuarded,
});

const drawSpan = (mark: Mark, axis: Axis, charset: Charset, put: Put): void => {
  const start = columnAt(axis, mark.at);
  const until = columnAt(axis, mark.until ?? mark.at);
  const end = mark.isOpen ? until : Math.max(start, until - 1);
  const cell = cellOf(mark, lookOf(mark), charset, false);
  put(start, { ...cell, isGuarded: isNotable(mark) });
  for (let column = start + 1; column <= end; column++) put(column, cell);
};

/** Writes the label into the first stretch of its own columns in the band, outside of folds, that has room for it. */
const writeLabel = (mark: Mark, axis: Axis, band: Band, cells: Cell[]): void => {
  if (mark.label === '') return;
  const label = printableLine(mark.label);
  const characters = [...label];
  if (textWidth(label) !== characters.length) return;
  for (const { from, start, end, fold } of axis.segments) {
    if (from > (mark.until ?? mark.at)) return;
    if (fold) continue;
    let free = 0;
    const first = Math.max(start, band.start, columnAt(axis, mark.at));
    for (let column = first; column < Math.min(end, band.end); column++) {
      free = cells[column]?.mark === mark ? free + 1 : 0;
      if (free < characters.length + 2) continue;
      const at = column - characters.length;
      characters.forEach((glyph, index) => (cells[at + index] = { ...cells[at + index]!, glyph }));
      return;
    }
  }
};

/** Draws the marks for every lane over the cells of one of them. */
export const withBreaks = (
  cells: readonly Cell[],
  breaks: readonly Mark[],
  axis: Axis,
  charset: Charset,
): readonly Cell[] => {
  const drawn = [...cells];
  for (const mark of breaks.filter(isNotable)) {
    for (const at of mark.until === undefined || mark.isOpen ? [mark.at] : [mark.at, mark.until]) {
      const column = columnAt(axis, at);
      const below = drawn[column];
      if (below && !below.isGuarded) drawn[column] = cellOf(mark, INSTANT_LOOKS.break, charset, false);
    }
  }
  return drawn;
};
