import { type Axis, axisOf, positionOf } from '../../model/timeline/axis.js';
import { compactDuration } from '../../model/timeline/compact-duration.js';
import { chooseFolds, type Fold, type Room, tallyText } from '../../model/timeline/fold.js';
import type { InstantLook, Lane, Mark, SpanLook, Timeline } from '../../model/timeline/lanes.js';
import { INSTANT_LOOKS, lookOf } from '../../model/timeline/looks.js';
import { ticksOf } from '../../model/timeline/ticks.js';
import { fullName } from '../../model/why/find-pod.js';

const WIDTH = 1200;
const LANE = 22;
const CHARACTER = 6.7;
const TOP = 26;

/**
 * The lanes of a timeline as one SVG picture of its own: no script, no font and no file beside it. Pointing at a mark shows its text
 * where it is viewed by itself.
 */
export const renderSvg = (timeline: Timeline): string => {
  const names = timeline.pods.flatMap(({ lanes }) => lanes.map(({ name }) => name.length));
  const left = Math.min(260, Math.max(60, ...names.map((length) => length * CHARACTER + 24)));
  const room: Room = {
    columns: WIDTH - left - 16,
    foldColumns: (ms) => compactDuration(ms).length * CHARACTER + 12,
    leastColumns: 12,
  };
  const axis = axisOf(timeline, chooseFolds(timeline, room), room);
  const rows = rowsOf(timeline);
  const bottom = TOP + LANE + rows.length * LANE;
  const legend = legendOf(timeline, bottom + 20);
  const height = legend.bottom + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="ui-monospace, monospace" font-size="11">`,
    `<title>${escaped(timeline.pods.map(({ ref }) => fullName(ref)).join(', '))}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    `<g transform="translate(${left} 0)">`,
    ...axisParts(timeline, axis, bottom),
    ...rows.flatMap((row, index) => {
      const y = TOP + LANE + index * LANE;
      const name = `<text class="${row.lane ? 'name' : 'pod'}" x="${-left + (row.lane ? 16 : 6)}" y="${y + 15}">${escaped(row.name)}</text>`;
      return row.lane ? [name, ...row.lane.marks.map((mark) => markPart(mark, axis, y))] : [name];
    }),
    '</g>',
    ...legend.parts,
    '</svg>',
    '',
  ].join('\n');
};

interface Row {
  readonly name: string;
  /** Absent for the heading of a pod. */
  readonly lane?: Lane;
}

const rowsOf = ({ pods }: Timeline): readonly Row[] =>
  pods.flatMap(({ ref, lanes }) => [
    { name: fullName(ref) },
    // A lane on which nothing is would only take room.
    ...lanes.filter(({ marks }) => marks.length > 0).map((lane) => ({ name: lane.name, lane })),
  ]);

const axisParts = (timeline: Timeline, axis: Axis, bottom: number): readonly string[] => [
  ...axis.segments.flatMap(({ fold, start, end }) => (fold ? [foldPart(fold, start, end, bottom)] : [])),
  `<line class="axis" x1="0" x2="${px(axis.columns)}" y1="${TOP}" y2="${TOP}"/>`,
  ...ticksOf(timeline, axis, { characterColumns: CHARACTER, gapColumns: 12 }).flatMap(({ position, label }) => [
    `<line class="grid" x1="${px(position)}" x2="${px(position)}" y1="${TOP - 4}" y2="${bottom}"/>`,
    `<text class="tick" x="${px(position)}" y="${TOP - 8}">${escaped(label)}</text>`,
  ]),
  ...timeline.breaks.map(({ at, text }) => {
    const x = px(positionOf(axis, at));
    return `<line class="break" x1="${x}" x2="${x}" y1="${TOP}" y2="${bottom}"><title>${escaped(text)}</title></line>`;
  }),
];

const foldPart = (fold: Fold, start: number, end: number, bottom: number): string => {
  const duration = compactDuration(fold.until - fold.from);
  const tally = tallyText(fold);
  return [
    `<g class="fold"><title>${escaped(`${duration} folded${tally === '' ? '' : `: ${tally}`}`)}</title>`,
    `<rect x="${px(start)}" y="${TOP}" width="${px(end - start)}" height="${bottom - TOP}"/>`,
    `<text x="${px((start + end) / 2)}" y="${TOP + 14}">${duration}</text></g>`,
  ].join('');
};

const markPart = (mark: Mark, axis: Axis, y: number): string => {
  const { at, until, text, severity, look } = mark;
  const x = positionOf(axis, at);
  const title = `<title>${escaped(`${compactDuration(at)}  ${text}`)}</title>`;
  if (until === undefined) {
    const glyph = escaped(INSTANT_LOOKS[look as InstantLook].unicode);
    return `<text class="instant ${severity}" x="${px(x)}" y="${y + 15}">${title}${glyph}</text>`;
  }
  const width = Math.max(1.5, positionOf(axis, until) - x);
  const thin = THIN.has(look as SpanLook);
  const bar = `<rect class="${look} ${severity}" x="${px(x)}" y="${y + (thin ? 9 : 5)}" width="${px(width)}" height="${thin ? 4 : 12}" rx="2"/>`;
  const label =
    mark.label.length * CHARACTER + 6 <= width && !thin
      ? `<text class="label" x="${px(x + 4)}" y="${y + 15}">${escaped(mark.label)}</text>`
      : '';
  return `<g>${title}${bar}${label}</g>`;
};

/** On these spans instants stand, or they say what is not there. */
const THIN: ReadonlySet<SpanLook> = new Set(['passing', 'failing', 'running']);

const legendOf = (timeline: Timeline, top: number): { readonly parts: readonly string[]; readonly bottom: number } => {
  const looks = new Map<string, Mark>();
  for (const { lanes } of timeline.pods)
    for (const { marks } of lanes) for (const mark of marks) looks.set(lookOf(mark).meaning, mark);
  const parts: string[] = [];
  let [x, y] = [16, top];
  for (const [meaning, mark] of looks) {
    const width = meaning.length * CHARACTER + 34;
    if (x + width > WIDTH) [x, y] = [16, y + 20];
    parts.push(
      mark.until === undefined
        ? `<text class="instant ${mark.severity}" x="${px(x + 6)}" y="${y}">${escaped(lookOf(mark).unicode)}</text>`
        : `<rect class="${mark.look} ${mark.severity}" x="${px(x)}" y="${y - 8}" width="14" height="8" rx="2"/>`,
      `<text class="name" x="${px(x + 18)}" y="${y}">${escaped(meaning)}</text>`,
    );
    x += width;
  }
  return { parts, bottom: y };
};

const px = (value: number): string => String(Math.round(value * 10) / 10);

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`).replace(/[^\P{C}\n\t]/gu, ' ');

/** Light and dark, told apart by more than the colour: shapes and texts say the same. */
const STYLE = [
  '.paper{fill:#fff}.name,.tick,.label{fill:#24292f}.pod{fill:#24292f;font-weight:bold}',
  '.axis{stroke:#57606a}.grid{stroke:#57606a;stroke-opacity:.18}.break{stroke:#cf222e;stroke-width:2}',
  '.fold rect{fill:#57606a;fill-opacity:.12}.fold text{fill:#57606a;text-anchor:middle;font-style:italic}',
  '.instant{text-anchor:middle;font-size:13px;fill:#57606a}.instant.good{fill:#1a7f37}.instant.warning{fill:#9a6700}.instant.error{fill:#cf222e}',
  'rect.note,rect.quiet{fill:#a5c9f3}rect.good{fill:#aceebb}rect.warning{fill:#f5d584}rect.error{fill:#ffb3ae}',
  'rect.running{fill:#54aeff}rect.back-off{fill:#f5d584}rect.stopping{fill:#d8b9ff}',
  '@media (prefers-color-scheme:dark){.paper{fill:#0d1117}.name,.tick,.pod{fill:#e6edf3}.grid,.axis{stroke:#8d96a0}.fold text,.instant{fill:#8d96a0}}',
].join('');
