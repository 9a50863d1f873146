import type { PodRef } from '../../model/pod/pod.js';
import { fullName } from '../why/find-pod.js';
import { type Axis, positionOf, segmentAt } from './axis.js';
import { compactDuration } from './compact-duration.js';
import { textWidth } from './fit-text.js';
import { type Fold, type Room, tallyText } from './fold.js';
import { endOf, isNotable, type Lane, type Mark, severityRank, type Timeline } from './lanes.js';
import { INSTANT_PATHS } from './instant-paths.js';
import { exactTime, ticksOf, zoneOf } from './ticks.js';

/** One element of an SVG picture. Texts and values are plain: the writer of the element escapes them. */
export interface Shape {
  readonly tag: 'rect' | 'path' | 'line' | 'text';
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The content of a `text`. */
  readonly text?: string;
  /** The mark of this shape. */
  readonly mark?: Mark;
  /** The fold of this shape. */
  readonly fold?: Fold;
  /** The text beside the pointer. */
  readonly title?: string;
}

/** The position of a lane, or of the heading of a pod. */
export interface Row {
  readonly name: string;
  readonly y: number;
  readonly height: number;
  /** Absent for the heading of a pod. */
  readonly lane?: Lane;
  /** The track of every mark that is not on the first one, so that overlapping spans are visible. */
  readonly tracks: ReadonlyMap<Mark, number>;
}

const AXIS_HEIGHT = 30;
const TRACK = 18;
const GAP = 6;
/** The margins left and right of the axis, so that marks at its ends are not cut off. */
export const MARGIN = 9;
const MOST_TRACKS = 5;
const BAR = 12;
/** The width of a monospaced character of 11 pixels, rounded up. */
const CHARACTER = 6.7;
/** A narrower mark could not be seen or pointed at. */
const NARROWEST = 2;

/** The widths of folds and of stretches between them on a page. */
export const pageRoom = (columns: number): Room => ({
  columns,
  foldColumns: (ms) => Math.round(compactDuration(ms).length * CHARACTER + 14),
  leastColumns: 16,
});

/** The lanes from top to bottom, below each pod's name. */
export const rowsOf = ({ pods }: Timeline): readonly Row[] => {
  let y = AXIS_HEIGHT + GAP;
  const take = (height: number): number => {
    y += height + GAP;
    return y - height - GAP;
  };
  return pods.flatMap(({ ref, lanes }) => [
    // A single pod has its name above the picture.
    ...(pods.length > 1 ? [{ name: headingOf(ref, pods), y: take(TRACK), height: TRACK, tracks: NO_TRACKS }] : []),
    ...lanes.map((lane): Row => {
      const { tracks, count } = tracksOf(lane);
      const height = count * TRACK;
      return { name: lane.name, lane, tracks, y: take(height), height };
    }),
  ]);
};
/** Pods of one name are distinguished by the begin of their UIDs. */
const headingOf = (ref: PodRef, pods: Timeline['pods']): string => {
  const isOnly = pods.filter((pod) => fullName(pod.ref) === fullName(ref)).length === 1;
  return isOnly ? fullName(ref) : `${fullName(ref)} ${ref.uid.slice(0, 8)}`;
};
const NO_TRACKS: ReadonlyMap<Mark, number> = new Map();

/** The end of all rows. */
export const heightOf = (rows: readonly Row[]): number => {
  const last = rows.at(-1);
  return last ? last.y + last.height + GAP : AXIS_HEIGHT + GAP;
};

/** Puts overlapping spans on tracks of their own, as far as there are any. Instants are on the first one. */
const tracksOf = ({ kind, marks }: Lane): { readonly tracks: ReadonlyMap<Mark, number>; readonly count: number } => {
  const tracks = new Map<Mark, number>();
  const ends: number[] = [];
  if (kind !== 'calls') return { tracks, count: 1 };
  for (const mark of marks) {
    if (mark.until === undefined) continue;
    const free = ends.findIndex((end) => end <= mark.at);
    const track = free >= 0 ? free : Math.min(ends.length, MOST_TRACKS - 1);
    ends[track] = Math.max(ends[track] ?? 0, mark.until);
    if (track > 0) tracks.set(mark, track);
  }
  return { tracks, count: Math.max(1, ends.length) };
};

/** The names in front of the lanes, within a width. */
export const drawNames = (timeline: Timeline, rows: readonly Row[], width: number): readonly Shape[] => {
  const zone = zoneOf(timeline);
  return [
    ...(zone === undefined
      ? []
      : [{ tag: 'text', attributes: { class: 'tick-text', x: 16, y: 12 }, text: zone } as const]),
    ...rows.map(({ name, y, lane }) => ({
      tag: 'text' as const,
      attributes: { class: lane ? 'name' : 'pod', x: lane ? 16 : 4, y: y + 13 },
      text: cut(name, width - 20),
      title: name,
    })),
  ];
};

/** The width of the longest name, up to a limit. */
export const namesWidth = (rows: readonly Row[]): number =>
  Math.min(240, Math.max(80, ...rows.map(({ name }) => textWidth(name) * CHARACTER + 26)));

/** A part of the axis, in pixels from its left end. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Draws the lanes right of the names in that part of the axis; positions count from the part's begin. */
export const drawPlot = (
  timeline: Timeline,
  rows: readonly Row[],
  axis: Axis,
  seen: Extent = { start: 0, end: axis.columns },
): readonly Shape[] => {
  const height = heightOf(rows);
  return [
    ...rows.filter(({ lane }) => lane).map((row) => groundOf(row, seen)),
    ...drawFolds(axis, height, seen),
    ...drawAxis(timeline, axis, height, seen),
    ...rows.flatMap((row) => drawMarks(timeline, row, axis, seen)),
    ...timeline.breaks.flatMap((mark) => drawBreak(timeline, mark, axis, height, seen)),
  ];
};

const groundOf = ({ y, height }: Row, { start, end }: Extent): Shape => ({
  tag: 'rect',
  attributes: { class: 'ground', x: 0, y: y - GAP / 2, width: px(end - start), height: height + GAP },
});

const drawFolds = ({ segments }: Axis, height: number, seen: Extent): readonly Shape[] =>
  segments.flatMap(({ fold, start, end }): readonly Shape[] => {
    if (!fold || end < seen.start || start > seen.end) return [];
    const duration = compactDuration(fold.until - fold.from);
    const tally = tallyText(fold);
    const title = `${duration} folded away${tally === '' ? '' : `: ${tally}`}`;
    const x = px(start - seen.start);
    const middle = px((start + end) / 2 - seen.start);
    return [
      { tag: 'rect', attributes: { class: 'fold', x, y: 0, width: px(end - start), height }, fold, title },
      { tag: 'text', attributes: { class: 'fold-text', x: middle, y: 24 }, text: duration, title },
    ];
  });

const drawAxis = (timeline: Timeline, axis: Axis, height: number, seen: Extent): readonly Shape[] =>
  ticksOf(timeline, axis, { characterColumns: CHARACTER, gapColumns: 14, ...seen }).flatMap(
    ({ position, label }): readonly Shape[] => {
      const x = px(position - seen.start);
      return [
        { tag: 'line', attributes: { class: 'tick', x1: x, x2: x, y1: 4, y2: height } },
        { tag: 'text', attributes: { class: 'tick-text', x: px(x + 3), y: 12 }, text: label },
      ];
    },
  );

const drawMarks = (timeline: Timeline, row: Row, axis: Axis, seen: Extent): readonly Shape[] => {
  const { lane } = row;
  if (!lane) return [];
  // A quiet mark on top of another one is not visible, and one of thousands at one place is enough.
  let lastInstant = -1;
  const lastEnds = new Map<number, number>();
  const spans: Shape[] = [];
  const instants: Mark[] = [];
  for (const mark of lane.marks) {
    const x = positionOf(axis, mark.at);
    const end = positionOf(axis, endOf(mark));
    if (end < seen.start - BAR || x > seen.end + BAR) continue;
    if (mark.routine !== undefined && segmentAt(axis, mark.at).fold) continue;
    const y = middleOf(row, mark);
    if (mark.until !== undefined) {
      if (!isNotable(mark) && end < (lastEnds.get(y) ?? -1)) continue;
      lastEnds.set(y, Math.max(x + 1, lastEnds.get(y) ?? 0));
      spans.push(...drawSpan(timeline, lane, mark, { x, end, y }, seen));
    } else if (isNotable(mark) || x - lastInstant >= 1) {
      instants.push(mark);
      lastInstant = x;
    }
  }
  // The most important of several marks at one place is visible.
  const drawn = instants.toSorted((one, other) => severityRank(one) - severityRank(other));
  return [
    ...spans,
    ...drawn.map((mark) => {
      const place = { x: positionOf(axis, mark.at) - seen.start, y: middleOf(row, mark) };
      return drawInstant(timeline, lane, mark, place);
    }),
  ];
};

/** The height of a mark in its row. */
export const middleOf = ({ y, tracks }: Row, mark: Mark): number => y + ((tracks.get(mark) ?? 0) + 0.5) * TRACK;

interface Place {
  readonly x: number;
  readonly y: number;
}

const drawSpan = (
  timeline: Timeline,
  lane: Lane,
  mark: Mark,
  { x, end, y }: Place & { readonly end: number },
  seen: Extent,
): readonly Shape[] => {
  const title = describeMark(timeline, lane, mark);
  // A span that is cut off at the edge of the window has its end out of sight.
  const left = Math.max(x, seen.start - BAR) - seen.start;
  const right = Math.min(Math.max(end, x + NARROWEST), seen.end + BAR) - seen.start;
  const bar: Shape = {
    tag: 'rect',
    attributes: {
      class: classesOf('span', mark),
      x: px(left),
      y: y - BAR / 2,
      width: px(right - left),
      height: BAR,
      rx: 2,
    },
    mark,
    title,
  };
  // The label is in the visible part of the span, even if the span began far to the left.
  const start = Math.max(0, left) + 4;
  const label = cut(mark.label, Math.min(right, seen.end - seen.start) - start - 2);
  return label === ''
    ? [bar]
    : [bar, { tag: 'text', attributes: { class: 'label', x: px(start), y: y + 4 }, text: label }];
};

const drawInstant = (timeline: Timeline, lane: Lane, mark: Mark, { x, y }: Place): Shape => ({
  tag: 'path',
  attributes: {
    class: classesOf('instant', mark),
    d: INSTANT_PATHS[mark.look] ?? INSTANT_PATHS.event!,
    transform: `translate(${px(x)} ${y})`,
  },
  mark,
  title: describeMark(timeline, lane, mark),
});

const drawBreak = (timeline: Timeline, mark: Mark, axis: Axis, height: number, seen: Extent): readonly Shape[] => {
  const x = positionOf(axis, mark.at);
  const end = Math.max(x + NARROWEST, positionOf(axis, endOf(mark)));
  if (end < seen.start || x > seen.end) return [];
  const left = Math.max(x, seen.start - BAR) - seen.start;
  const width = px(Math.min(end, seen.end + BAR) - seen.start - left);
  return [
    {
      tag: 'rect',
      attributes: {
        class: classesOf('across', mark),
        x: px(left),
        y: AXIS_HEIGHT,
        width,
        height: height - AXIS_HEIGHT,
      },
      mark,
      title: describeMark(timeline, undefined, mark),
    },
  ];
};

const classesOf = (kind: string, { look, severity, isOpen }: Mark): string =>
  `${kind} look-${look} ${severity}${isOpen ? ' open' : ''}`;

/** The text of a mark for the pointer and for screen readers. */
const describeMark = (timeline: Timeline, lane: Lane | undefined, mark: Mark): string => {
  const lasts =
    mark.until === undefined ? '' : `, ${compactDuration(mark.until - mark.at)}${mark.isOpen ? ' so far' : ''}`;
  return `${lane?.name ?? 'node'}, ${exactTime(timeline, mark.at).trim()}${lasts}: ${mark.text}`;
};

/** Cuts a text to the available width, if enough of it remains readable. */
const cut = (text: string, width: number): string => {
  const fits = Math.floor(width / CHARACTER);
  if (text.length <= fits) return text;
  return fits < 7 ? '' : `${text.slice(0, fits - 1)}…`;
};

const px = (value: number): number => Math.round(value * 10) / 10;
