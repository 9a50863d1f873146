import { styleText } from 'node:util';
import type { TextStyle } from '../model/timeline/text-pen.js';

const STYLES = {
  quiet: [],
  note: ['cyan'],
  good: ['green'],
  warning: ['yellow'],
  error: ['red'],
  fold: ['dim'],
  axis: ['dim'],
  name: ['bold'],
  title: ['bold'],
} as const satisfies Record<TextStyle, readonly Parameters<typeof styleText>[0][number][]>;

/** In colour where standard output takes it, as `NO_COLOR` and `FORCE_COLOR` wish. */
export const paintTimeline = (text: string, style: TextStyle): string =>
  styleText([...STYLES[style]], text, { stream: process.stdout });
