import type { Severity } from './lanes.js';
import type { Charset } from './text-cells.js';

export type TextStyle = Severity | 'fold' | 'axis' | 'name' | 'title';

/** The tools for every part of a text. */
export interface Pen {
  readonly charset: Charset;
  readonly paint: (text: string, style: TextStyle) => string;
  /** The columns of the names in front of the lanes, and of a whole line. */
  readonly nameWidth: number;
  readonly width: number;
}
