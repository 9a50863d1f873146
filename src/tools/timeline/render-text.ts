import { type Axis, axisOf } from './axis.js';
import { compactDuration } from './compact-duration.js';
import { padText, printableLine, textWidth } from './fit-text.js';
import { chooseFolds, type Fold, type Room, tallyText } from './fold.js';
import { isNotable, type Lane, type Severity, type Timeline } from './lanes.js';
import { INSTANT_LOOKS } from './looks.js';
import { fullName } from '../why/find-pod.js';
import { type Band, type Cell, type Charset, columnAt, laneCells, withBreaks } from './text-cells.js';
import type { Pen, TextStyle } from './text-pen.js';
import { legendLines, notedLines, wrapped } from './text-notes.js';
import { ticksOf, zoneOf } from './ticks.js';

export interface TextOptions {
  /** The columns of the terminal; no line exceeds them. At least 20 are used. */
  readonly width: number;
  readonly charset?: Charset;
  /** Colours a piece of text; no colours by default. */
  readonly paint?: (text: string, style: TextStyle) => string;
  /** Quiet stretches are folded unless this is false. */
  readonly isFolded?: boolean;
  /** The most listed marks, of which the newest are kept. Default 40. */
  readonly listed?: number;
}

/** The most further rows if one is too short to distinguish the marks. */
const MOST_BANDS = 4;
/** The part of the important marks that must have a column of their own. */
const TOLD_APART = 0.9;
/** The least gain of a further row in that part. */
const WORTH_A_BAND = 0.1;
/** The columns of the longest text of a fold, such as `┈23h59m┈`. */
const WIDEST_FOLD = 8;
const WIDEST_NAME = 24;
const LEAST_WIDTH = 20;
const LISTED = 40;
/** The columns of a timeline without marks. */
const LEAST_COLUMNS = 2;

/**
 * Returns the timeline as lines for a terminal: lanes under a time axis, in as many rows as it takes to distinguish the
 * marks, then a legend, the folded marks, and the important marks with the ids of their journal entries.
 */
export const renderText = (timeline: Timeline, options: TextOptions): readonly string[] => {
  const { charset = 'unicode', paint = (text) => text, isFolded = true, listed = LISTED } = options;
  const width = Math.max(LEAST_WIDTH, options.width);
  const names = timeline.pods.flatMap(({ lanes }) => lanes.map(({ name }) => textWidth(printableLine(name))));
  const nameWidth = Math.min(WIDEST_NAME, Math.floor(width / 3), Math.max(0, ...names) + 2);
  const columns = width - nameWidth;
  const { axis, folds } = fittingAxis(timeline, columns, isFolded);
  const bands = bandsOf(axis, columns);
  const pen: Pen = { charset, paint, nameWidth, width };
  return [
    ...titleLines(timeline, pen),
    ...bands.flatMap((band) => ['', ...bandLines(timeline, axis, band, bands, pen)]),
    '',
    ...legendLines(timeline, pen),
    ...foldedLines(folds, pen),
    ...notedLines(timeline, listed, pen),
  ].map((line) => (charset === 'ascii' ? inAscii(line) : line).trimEnd());
};

/** The functions that cut and join texts; letters of other scripts stay. */
const inAscii = (line: string): string => line.replace(/…/g, '~').replace(/⏎/g, '|');

/** The shortest axis on which the important marks can be distinguished, with matching folds. */
const fittingAxis = (
  timeline: Timeline,
  columns: number,
  isFolded: boolean,
): { readonly axis: Axis; readonly folds: readonly Fold[] } => {
  const axisWith = (bands: number) => {
    const room: Room = {
      // A row may have to end before a fold.
      columns: columns * bands - (bands - 1) * WIDEST_FOLD,
      foldColumns: (ms) => compactDuration(ms).length + 2,
      leastColumns: LEAST_COLUMNS,
    };
    const folds = isFolded ? chooseFolds(timeline, room) : [];
    const axis = axisOf(timeline, folds, room);
    return { axis, folds, apart: partToldApart(timeline, axis) };
  };
  let best = axisWith(1);
  for (let bands = 2; bands <= MOST_BANDS && best.apart < TOLD_APART; bands++) {
    const next = axisWith(bands);
    if (next.apart - best.apart < WORTH_A_BAND) break;
    best = next;
  }
  return best;
};

const partToldApart = ({ pods }: Timeline, axis: Axis): number => {
  const lanes = pods.flatMap(({ lanes: all }) => all.map(({ marks }) => marks.filter(isNotable)));
  const all = lanes.reduce((sum, marks) => sum + marks.length, 0);
  const apart = lanes.reduce((sum, marks) => sum + new Set(marks.map(({ at }) => columnAt(axis, at))).size, 0);
  return all === 0 ? 1 : apart / all;
};

/** Splits the axis into rows of at most this many columns; a fold is not split. */
const bandsOf = ({ columns: all, segments }: Axis, columns: number): readonly Band[] => {
  const bands: Band[] = [];
  for (let start = 0; start < all;) {
    const limit = Math.min(all, start + columns);
    const torn =
      limit < all
        ? segments.find(({ fold, ...segment }) => fold && segment.start < limit && segment.end > limit)
        : undefined;
    const end = torn && torn.start > start ? torn.start : limit;
    bands.push({ start, end });
    start = end;
  }
  return bands;
};

const titleLines = ({ from, until, clock, node, pods }: Timeline, { paint, width }: Pen): string[] => {
  const names = [...new Set(pods.map(({ ref }) => fullName(ref)))].join(', ');
  const where = node === undefined ? '' : ` on ${node}`;
  const when = clock === 'time-of-day' ? `${new Date(from).toISOString()} to ${new Date(until).toISOString()}, ` : '';
  return [
    paint(padText(printableLine(`${names}${where}`), width).trimEnd(), 'title'),
    paint(padText(`${when}${compactDuration(until - from)}`, width).trimEnd(), 'axis'),
  ];
};

const bandLines = (timeline: Timeline, axis: Axis, band: Band, bands: readonly Band[], pen: Pen): string[] => {
  const { paint, nameWidth, charset, width } = pen;
  const laneLine = ({ name, marks }: Lane): string => {
    const cells = withBreaks(laneCells(marks, axis, bands, charset), timeline.breaks, axis, charset);
    return (
      paint(padText(` ${printableLine(name)}`, nameWidth), 'name') + paintCells(cells.slice(band.start, band.end), pen)
    );
  };
  const { pods } = timeline;
  const zoneText = ` ${zoneOf(timeline) ?? ''}`;
  const zone = zoneText.length < nameWidth ? zoneText : '';
  return [
    zone.padEnd(nameWidth) + paint(labelsText(timeline, axis, band), 'axis'),
    ' '.repeat(nameWidth) + paintCells(rulerCells(timeline, axis, pen).slice(band.start, band.end), pen),
    ...pods.flatMap(({ ref, lanes }) => [
      ...(pods.length > 1
        ? [paint(padText(printableLine(`${fullName(ref)} (${ref.uid})`), width).trimEnd(), 'title')]
        : []),
      ...lanes.map(laneLine),
    ]),
  ];
};

const labelsText = (timeline: Timeline, axis: Axis, { start, end }: Band): string =>
  ticksOf(timeline, axis, { characterColumns: 1, gapColumns: 2 })
    .filter(({ position, label }) => Math.floor(position) >= start && Math.floor(position) + label.length <= end)
    .reduce((text, { position, label }) => text.padEnd(Math.floor(position) - start) + label, '');

/** The axis: a notch at every label, folds with their durations, breaks. */
const rulerCells = (timeline: Timeline, axis: Axis, { charset }: Pen): readonly Cell[] => {
  const [line, notch, torn] = charset === 'unicode' ? ['─', '┬', '┈'] : ['-', '+', ':'];
  const plain = (glyph: string, style: Severity | 'fold'): Cell => ({ glyph, style, isGuarded: false });
  const cells = Array.from({ length: axis.columns }, () => plain(line, 'quiet'));
  for (const { position } of ticksOf(timeline, axis, { characterColumns: 1, gapColumns: 2 })) {
    cells[Math.floor(position)] = plain(notch, 'quiet');
  }
  for (const { fold, start } of axis.segments) {
    if (!fold) continue;
    const text = `${torn}${compactDuration(fold.until - fold.from)}${torn}`;
    [...text].forEach((glyph, index) => (cells[start + index] = plain(glyph, 'fold')));
  }
  for (const mark of timeline.breaks.filter(isNotable)) {
    cells[columnAt(axis, mark.at)] = plain(INSTANT_LOOKS.break[charset], mark.severity);
  }
  return cells;
};

/** Colours adjacent cells of one style as one piece. */
const paintCells = (cells: readonly Cell[], { paint }: Pen): string => {
  let text = '';
  for (let start = 0; start < cells.length;) {
    const { style } = cells[start]!;
    let end = start + 1;
    while (cells[end]?.style === style) end += 1;
    const piece = cells
      .slice(start, end)
      .map(({ glyph }) => glyph)
      .join('');
    text += piece.trim() === '' ? piece : paint(piece, style);
    start = end;
  }
  return text;
};

const foldedLines = (folds: readonly Fold[], { paint, width }: Pen): string[] => {
  if (folds.length === 0) return [];
  const routine = new Map<string, number>();
  for (const fold of folds) fold.routine.forEach((count, name) => routine.set(name, (routine.get(name) ?? 0) + count));
  const duration = compactDuration(folds.reduce((sum, { from, until }) => sum + until - from, 0));
  const pieces = [`folded away: ${duration}`, ...tallyText({ routine }).split(', ')].filter((piece) => piece !== '');
  return wrapped(pieces, ', ', width).map((line) => paint(line, 'fold'));
};
