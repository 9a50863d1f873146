import { type Axis, axisOf, positionOf, timeAt } from './axis.js';
import { pageRoom } from './drawing.js';
import { chooseFolds, type Fold } from './fold.js';
import type { Timeline } from './lanes.js';

/** The visible part of a timeline in a window, and its scale. All numbers are pixels. */
export interface PageView {
  /** The width of the window. */
  readonly width: number;
  /** The length of the whole axis: the width of the window if all is visible, longer when zoomed in. */
  readonly columns: number;
  /** The position on the axis of the window's left edge. */
  readonly scroll: number;
  readonly isFolded: boolean;
  /** Folds that the user has opened, by their begin. */
  readonly opened: ReadonlySet<number>;
}

/** Browsers draw no wider elements. */
const LONGEST = 8_000_000;

export const wholeView = (width: number): PageView => ({
  width,
  columns: width,
  scroll: 0,
  isFolded: true,
  opened: new Set(),
});

/**
 * The folds of a view: those of the whole timeline in the window, so that none appears or disappears while the user
 * zooms.
 */
const foldsOfView = (timeline: Timeline, { width, isFolded, opened }: PageView): readonly Fold[] =>
  isFolded ? chooseFolds(timeline, pageRoom(width)).filter(({ from }) => !opened.has(from)) : [];

export const axisOfView = (timeline: Timeline, view: PageView): Axis =>
  axisOf(timeline, foldsOfView(timeline, view), pageRoom(view.columns));

/** Multiplies the scale by `factor`, while the position at `x` of the window stays. */
export const zoomedView = (timeline: Timeline, view: PageView, factor: number, x = view.width / 2): PageView => {
  const columns = Math.min(LONGEST, Math.max(view.width, view.columns * factor));
  return keeping(timeline, view, { ...view, columns }, x);
};

/** Moves by a number of pixels, within the axis. */
export const pannedView = (view: PageView, by: number): PageView => ({
  ...view,
  scroll: withinAxis(view, view.scroll + by),
});

/** Centres an instant. */
export const centredView = (timeline: Timeline, view: PageView, at: number): PageView => {
  const position = positionOf(axisOfView(timeline, view), at);
  return { ...view, scroll: withinAxis(view, position - view.width / 2) };
};

/** The same begin and scale in a window of another width. */
export const resizedView = (timeline: Timeline, view: PageView, width: number): PageView => {
  const columns = Math.max(width, (view.columns * width) / view.width);
  return keeping(timeline, view, { ...view, width, columns }, 0);
};

/** Closes or opens all folds. */
export const foldedView = (timeline: Timeline, view: PageView, isFolded: boolean): PageView =>
  keeping(timeline, view, { ...view, isFolded, opened: new Set() }, view.width / 2);

/** Opens a fold, which is then drawn to scale. */
export const openedView = (timeline: Timeline, view: PageView, { from }: Fold, x: number): PageView =>
  keeping(timeline, view, { ...view, opened: new Set([...view.opened, from]) }, x);

/** Whether an instant is in the window. */
export const isInView = (timeline: Timeline, view: PageView, at: number): boolean => {
  const x = positionOf(axisOfView(timeline, view), at) - view.scroll;
  return x >= 0 && x <= view.width;
};

const keeping = (timeline: Timeline, before: PageView, after: PageView, x: number): PageView => {
  const at = timeAt(axisOfView(timeline, before), before.scroll + x);
  return { ...after, scroll: withinAxis(after, positionOf(axisOfView(timeline, after), at) - x) };
};

const withinAxis = ({ width, columns }: PageView, scroll: number): number =>
  Math.max(0, Math.min(columns - width, scroll));
