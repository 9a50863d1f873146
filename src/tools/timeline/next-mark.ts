import type { Lane, Mark } from './lanes.js';

/** Returns the mark before or after a mark in its lane, or the one nearest in time of the lane above or below. */
export const nextMark = (
  lanes: readonly Lane[],
  mark: Mark,
  direction: 'left' | 'right' | 'up' | 'down',
): Mark | undefined => {
  const row = lanes.findIndex(({ marks }) => marks.includes(mark));
  const lane = lanes[row];
  if (!lane) return undefined;
  if (direction === 'left' || direction === 'right') {
    return lane.marks[lane.marks.indexOf(mark) + (direction === 'left' ? -1 : 1)];
  }
  const distance = ({ at }: Mark): number => Math.abs(at - mark.at);
  const [nearest] = (lanes[row + (direction === 'up' ? -1 : 1)]?.marks ?? []).toSorted(
    (one, other) => distance(one) - distance(other),
  );
  return nearest;
};
