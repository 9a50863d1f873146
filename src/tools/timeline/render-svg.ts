import { axisOf } from './axis.js';
import { drawNames, drawPlot, heightOf, MARGIN, namesWidth, pageRoom, rowsOf, type Shape } from './drawing.js';
import { chooseFolds } from './fold.js';
import type { Timeline } from './lanes.js';
import { escapeMarkup } from './escape-markup.js';
import { LANES_STYLE } from '../../generated/timeline-page.js';

export interface SvgOptions {
  /** Pixels. Default 1200. */
  readonly width?: number;
  /** Quiet stretches are folded unless this is false. */
  readonly isFolded?: boolean;
  /** Whether the picture contains its own colours; default true. */
  readonly hasStyle?: boolean;
  readonly title: string;
}

/** Draws the timeline as one self-contained SVG picture, in colours for light and dark. */
export const renderSvg = (timeline: Timeline, options: SvgOptions): string => {
  const { width = 1200, isFolded = true, hasStyle = true, title } = options;
  const rows = rowsOf(timeline);
  const left = Math.ceil(namesWidth(rows));
  const room = pageRoom(Math.max(200, width - left - 2 * MARGIN));
  const axis = axisOf(timeline, isFolded ? chooseFolds(timeline, room) : [], room);
  const height = heightOf(rows);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="timeline" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeMarkup(title)}">`,
    ...(hasStyle
      ? [`<style>${LANES_STYLE}</style>`, `<rect class="paper" width="${width}" height="${height}"></rect>`]
      : []),
    ...drawNames(timeline, rows, left).map(shapeText),
    `<g transform="translate(${left + MARGIN} 0)">`,
    ...drawPlot(timeline, rows, axis).map(shapeText),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
};

const shapeText = ({ tag, attributes, text = '', title }: Shape): string => {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeMarkup(`${value}`)}"`);
  const tooltip = title === undefined ? '' : `<title>${escapeMarkup(title)}</title>`;
  // The title comes first, since it would otherwise be part of the drawn text.
  return `<${tag}${written.join('')}>${tooltip}${escapeMarkup(text)}</${tag}>`;
};
