import { styleText } from 'node:util';
import type { TextStyle } from '../../tools/timeline/text-pen.js';

const STYLES = {
  quiet: undefined,
  note: 'cyan',
  good: 'green',
  warning: 'yellow',
  error: 'red',
  fold: 'dim',
  axis: 'dim',
  name: 'bold',
  title: 'bold',
} as const satisfies Record<TextStyle, Parameters<typeof styleText>[0] | undefined>;

/** In colour if standard output supports it, with `NO_COLOR` and `FORCE_COLOR`. */
export const paintTimeline = (text: string, style: TextStyle): string => {
  const format = STYLES[style];
  // Node.js 20 checks the stream for a single format only, not for a list of them.
  return format === undefined ? text : styleText(format, text, { stream: process.stdout });
};
