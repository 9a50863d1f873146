import type { Mark } from './lanes.js';

const circle = (radius: number): string =>
  `M${-radius} 0a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0`;

/**
 * The outlines of instants around their middle, in pixels. Each kind has its own, so that the kind is visible without
 * colours.
 */
export const INSTANT_PATHS: Readonly<Partial<Record<Mark['look'], string>>> = {
  change: 'M0 -6L6 0L0 6L-6 0Z',
  start: circle(5),
  'exit-good': `${circle(5)}${circle(2.5)}`,
  'exit-bad': 'M-5 -3L-3 -5L0 -2L3 -5L5 -3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z',
  success: circle(2),
  failure: 'M-4 -2.6L-2.6 -4L0 -1.4L2.6 -4L4 -2.6L1.4 0L4 2.6L2.6 4L0 1.4L-2.6 4L-4 2.6L-1.4 0Z',
  'verdict-good': 'M0 -5L6 5L-6 5Z',
  'verdict-bad': 'M0 5L6 -5L-6 -5Z',
  kill: 'M-4.5 -4.5H4.5V4.5H-4.5Z',
  tick: circle(1.5),
  event: circle(3),
  break: 'M-1 -8H1V8H-1Z',
};
