import type { PodRef } from '../pod.js';
import { fullName } from '../why/find-pod.js';
import { type Axis, positionOf, segmentAt } from './axis.js';
import { compactDuration } from './compact-duration.js';
import { textWidth } from './fit-text.js';
import { type Fold, type Room, tallyText } from './fold.js';
import { endOf, isNotable, type Lane, type Mark, severityRank, type Timeline } from './lanes.js';
import { INSTANT_PATHS } from './instant-paths.js';
import { exactTime, ticksOf } from './ticks.js';

/** One element of an SVG picture. Texts and values are plain: whoever writes or makes the element escapes them. */
export interface Shape {
  readonly tag: 'rect' | 'path' | 'line' | 'text';
  readonly attributes: Readonly<Record<string, string | number>>;
  /** What a `text` says. */
  readonly text?: string;
  /** The mark that it is a picture of. */
  readonly mark?: Mark;
  /** The fold that it is a picture of. */
  readonly fold?: Fold;
  /** What is told when somebody points at it. */
  readonly title?: string;
}

/** Where a lane, or the heading of a pod, stands. */
export interface Row {
  readonly name: string;
  readonly y: number;
  readonly height: number;
  /** Absent for the heading of a pod. */
  readonly lane?: Lane;
  /** For every mark that does not stand on the first track: which one, so that overlapping spans are all seen. */
  readonly tracks: ReadonlyMap<Mark, number>;
}

export const AXIS_HEIGHT = 30;
const TRACK = 18;
const GAP = 6;
/** Left and right of the axis, so that nothing at its ends is cut off. */
export const MARGIN = 9;
const MOST_TRACKS = 5;
const BAR = 12;
/** Of a monospaced character of 11 pixels, rounded up. */
export const CHARACTER = 6.7;
/** Where nothing narrower could be seen or pointed at. */
const NARROWEST = 2;

/** What folds and stretches between them take on a page. */
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
    // One pod has its name above it all.
    ...(pods.length > 1 ? [{ name: headingOf(ref, pods), y: take(TRACK), height: TRACK, tracks: NO_TRACKS }] : []),
    ...lanes.map((lane): Row => {
      const { tracks, count } = tracksOf(lane);
      const height = count * TRACK;
      return { name: lane.name, lane, tracks, y: take(height), height };
    }),
  ]);
};
/** Incarnations of one name are told apart by the begin of their UIDs. */
const headingOf = (ref: PodRef, pods: Timeline['pods']): string => {
  const isOnly = pods.filter((pod) => fullName(pod.ref) === fullName(ref)).length === 1;
  return isOnly ? fullName(ref) : `${fullName(ref)} ${ref.uid.slice(0, 8)}`;
};
const NO_TRACKS: ReadonlyMap<Mark, number> = new Map();

/** What stands below of all rows. */
export const heightOf = (rows: readonly Row[]): number => {
  const last = rows.at(-1);
  return last ? last.y + last.height + GAP : AXIS_HEIGHT + GAP;
};

/** Spans that overlap stand on tracks of their own, as far as there are any. Instants stand on the first one. */
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

/** The names in front of the lanes, in so much room. */
export const drawNames = (rows: readonly Row[], width: number): readonly Shape[] =>
  rows.map(({ name, y, lane }) => ({
    tag: 'text',
    attributes: { class: lane ? 'name' : 'pod', x: lane ? 16 : 4, y: y + 13 },
    text: cut(name, width - 20),
    title: name,
  }));

/** Room for the longest name, within reason. */
export const namesWidth = (rows: readonly Row[]): number =>
  Math.min(240, Math.max(80, ...rows.map(({ name }) => textWidth(name) * CHARACTER + 26)));

/** A part of the axis, in pixels from its left end. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Everything right of the names that is seen in that part of the axis; positions count from where the part begins. */
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
  // A quiet mark where another one was just drawn cannot be seen, and of thousands at one place one is enough.
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
  // What matters most is seen where several stand at one place.
  const drawn = instants.toSorted((one, other) => severityRank(one) - severityRank(other));
  return [
    ...spans,
    ...drawn.map((mark) => {
      const place = { x: positionOf(axis, mark.at) - seen.start, y: middleOf(row, mark) };
      return drawInstant(timeline, lane, mark, place);
    }),
  ];
};

/** The height at which a mark of the row is drawn. */
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
  // What is cut off at the edge of the window has its end out of sight.
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
  // The label stands where the span is seen, however far to the left it began.
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

/** What a pointer, or somebody who hears the page, is told of a mark. */
export const describeMark = (timeline: Timeline, lane: Lane | undefined, mark: Mark): string => {
  const lasts =
    mark.until === undefined ? '' : `, ${compactDuration(mark.until - mark.at)}${mark.isOpen ? ' so far' : ''}`;
  return `${lane?.name ?? 'node'}, ${exactTime(timeline, mark.at).trim()}${lasts}: ${mark.text}`;
};

/** As much of a text as has room, if that is enough to be read. */
const cut = (text: string, width: number): string => {
  const fits = Math.floor(width / CHARACTER);
  if (text.length <= fits) return text;
  return fits < 7 ? '' : `${text.slice(0, fits - 1)}…`;
};

const px = (value: number): number => Math.round(value * 10) / 10;
