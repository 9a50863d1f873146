import { styleText } from 'node:util';
import type { TextStyle } from '../model/timeline/text-pen.js';

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

/** In colour where standard output takes it, as `NO_COLOR` and `FORCE_COLOR` wish. */
export const paintTimeline = (text: string, style: TextStyle): string => {
  const format = STYLES[style];
  // Node.js 20 looks at the stream for one format alone, not for a list of them.
  return format === undefined ? text : styleText(format, text, { stream: process.stdout });
};
