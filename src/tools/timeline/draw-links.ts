import { type Axis, positionOf } from './axis.js';
import type { Link } from './cause-links.js';
import { type Extent, middleOf, type Row, type Shape } from './drawing.js';
import type { Mark } from './lanes.js';

/** Draws lines from causes to effects, over the lanes of that part of the axis. */
export const drawLinks = (rows: readonly Row[], axis: Axis, links: readonly Link[], seen: Extent): readonly Shape[] => {
  const heights = new Map<Mark, number>();
  for (const row of rows) for (const mark of row.lane?.marks ?? []) heights.set(mark, middleOf(row, mark));
  return links.flatMap(({ cause, effect }): readonly Shape[] => {
    const [from, to] = [heights.get(cause), heights.get(effect)];
    if (from === undefined || to === undefined) return [];
    const [x1, x2] = [cause, effect].map(({ at }) => px(positionOf(axis, at) - seen.start)) as [number, number];
    const bend = Math.max(12, Math.min(60, Math.abs(x2 - x1) / 2));
    const d = `M${x1} ${from}C${px(x1 + bend)} ${from} ${px(x2 - bend)} ${to} ${x2} ${to}`;
    return [{ tag: 'path', attributes: { class: 'link', d } }];
  });
};

const px = (value: number): number => Math.round(value * 10) / 10;
