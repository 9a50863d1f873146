import { fitText, padText, printableLine, textWidth } from './fit-text.js';
import { isNotable, type Mark, marksOf, type Timeline } from './lanes.js';
import { lookOf } from './looks.js';
import type { Pen } from './text-pen.js';
import { exactTime } from './ticks.js';

/** The meaning of every drawn symbol. */
export const legendLines = (timeline: Timeline, { charset, paint, width }: Pen): string[] => {
  const meanings = new Map<string, string>();
  for (const mark of marksOf(timeline)) {
    if (timeline.breaks.includes(mark) && !isNotable(mark)) continue;
    const look = lookOf(mark);
    const before = meanings.get(look[charset]);
    if (before === undefined) meanings.set(look[charset], look.meaning);
    else if (!before.split(' or ').includes(look.meaning)) meanings.set(look[charset], `${before} or ${look.meaning}`);
  }
  return wrapped(
    [...meanings].map(([glyph, meaning]) => `${glyph} ${meaning}`),
    '   ',
    width,
  ).map((line) => paint(line, 'axis'));
};

/** Joins pieces to as few lines as possible; none is split. */
export const wrapped = (pieces: readonly string[], separator: string, width: number): string[] =>
  pieces.reduce<string[]>((lines, piece) => {
    const last = lines.at(-1);
    const longer = `${last ?? ''}${separator}${piece}`;
    if (last !== undefined && textWidth(longer) <= width) return [...lines.slice(0, -1), longer];
    return [...lines, fitText(piece, width)];
  }, []);

/** The newest important marks, oldest first, each with the id of its journal entry. */
export const notedLines = (timeline: Timeline, listed: number, pen: Pen): string[] => {
  const noted = lanesWithMarks(timeline)
    .flatMap(({ name, marks }) => marks.filter(isNotable).map((mark) => ({ name, mark })))
    .toSorted((one, other) => one.mark.at - other.mark.at);
  if (noted.length === 0 || listed <= 0) return [];
  const shown = noted.slice(-listed);
  const hidden = noted.length - shown.length;
  const nameWidth = Math.min(pen.nameWidth, Math.max(0, ...shown.map(({ name }) => textWidth(printableLine(name)))));
  const idWidth = Math.max(0, ...shown.map(({ mark }) => textWidth(idOf(mark))));
  return [
    '',
    ...(hidden > 0 ? [fitText(`(${hidden} earlier ${hidden === 1 ? 'one' : 'ones'})`, pen.width)] : []),
    ...shown.map(({ name, mark }) => notedLine(timeline, name, { nameWidth, idWidth }, mark, pen)),
  ];
};

const lanesWithMarks = ({ breaks, pods }: Timeline): { readonly name: string; readonly marks: readonly Mark[] }[] => [
  { name: 'node', marks: breaks },
  ...pods.flatMap(({ lanes }) => lanes),
];

const idOf = ({ entry }: Mark): string => (entry === undefined ? '' : printableLine(entry));

/** Below this number of columns a text is not readable. */
const LEAST_TEXT = 12;

const notedLine = (
  timeline: Timeline,
  name: string,
  { nameWidth, idWidth }: { readonly nameWidth: number; readonly idWidth: number },
  mark: Mark,
  { charset, paint, width }: Pen,
): string => {
  const time = exactTime(timeline, mark.at);
  const id = padText(idOf(mark), idWidth);
  const parts = [
    { text: time, style: 'axis' },
    { text: lookOf(mark)[charset], style: mark.severity },
    { text: padText(printableLine(name), nameWidth), style: 'name' },
    { text: printableLine(mark.text), style: mark.severity },
    { text: id, style: 'axis' },
  ] as const;
  const taken = (shown: readonly number[]) =>
    shown.reduce((sum, index) => sum + (index === TEXT ? 0 : textWidth(parts[index]!.text)) + 2, -2);
  // Without room for all parts the text is the most useful, then the time.
  const shown = FITTING.find((some) => taken(some) + LEAST_TEXT <= width) ?? [TEXT];
  return shown
    .map((index) => {
      const { text, style } = parts[index];
      return paint(index === TEXT ? padText(text, width - taken(shown)) : text, style);
    })
    .join('  ');
};
const TEXT = 3;
const FITTING = [
  [0, 1, 2, TEXT, 4],
  [0, 1, TEXT, 4],
  [0, 1, TEXT],
] as const;
