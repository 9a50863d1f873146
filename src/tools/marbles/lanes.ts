import { AssertionError } from 'node:assert';

/** One event of a history: `{ at: 1200, what: 'start main' }`, or the same as text: `'1200 start main'`. */
export type Happening = string | { readonly at: number; readonly what: string };

/** By lane: a name, and the marbles of its events. */
export type Lanes = Readonly<Record<string, string>>;

/** The scale of a picture. */
export interface LaneScale {
  /** The time of one character. */
  readonly everyMs: number;
  /** An event between two steps is drawn in the earlier one. Otherwise it is an error: pictures are exact. */
  readonly floor?: boolean;
}
export interface LanesExpectation {
  readonly toBe: (...picture: [Lanes] | [marbles: string, legend: Readonly<Record<string, string>>]) => void;
}
/** Marks by step. A step with several events has several marks, in their order. */
type Lane = ReadonlyMap<number, string>;

/** Runs of more empty steps than this are written as a length of time. */
const LONGEST_RUN = 12;
const UNITS = { m: 60_000, s: 1_000, ms: 1 } as const;

const firstOf = (text: string): string => text[0] ?? '?';
const isIn = (lane: string, what: string): boolean => what === lane || what.startsWith(`${lane} `);

/** The text that follows the name of the lane if that is one character, as a count of restarts is; otherwise the first letter. */
const markOf = (lane: string, what: string): string => {
  const rest = what.slice(lane.length).trim();
  return rest.length === 1 ? rest : firstOf(what);
};

const parse = (marbles: string, everyMs: number): Lane => {
  const lane = new Map<number, string>();
  const put = (step: number, mark: string) => lane.set(step, `${lane.get(step) ?? ''}${mark}`);
  let step = 0;
  for (const [token, group, length, unit] of marbles.matchAll(
    /\(([^()]*)\)|(?<=^|\s)(\d+(?:\.\d+)?)(ms|s|m)(?=\s|$)|\S/g,
  )) {
    if (unit !== undefined) {
      const steps = (Number(length) * UNITS[unit as keyof typeof UNITS]) / everyMs;
      if (Math.abs(steps - Math.round(steps)) > 1e-6) {
        throw new Error(`"${token}" in "${marbles}" is no whole number of steps of ${everyMs} ms`);
      }
      step += Math.round(steps);
      continue;
    }
    if (group !== undefined) put(step, group);
    else if ('()'.includes(token)) throw new Error(`"${marbles}" has a group without an end or a beginning`);
    else if (token !== '-') put(step, token);
    step++;
  }
  return lane;
};

const lengthOf = (steps: number, everyMs: number): string => {
  const ms = steps * everyMs;
  const unit = (['m', 's', 'ms'] as const).find((name) => ms % UNITS[name] === 0) ?? 'ms';
  return `${ms / UNITS[unit]}${unit}`;
};

/** Lanes above each other, with the same columns: the form in which a test draws them. */
const draw = (lanes: readonly Lane[], everyMs: number): readonly string[] => {
  const busy = [...new Set(lanes.flatMap((lane) => [...lane.keys()]))].toSorted((one, other) => one - other);
  const rows = lanes.map(() => '');
  const add = (cell: (lane: Lane) => string) => {
    const cells = lanes.map(cell);
    const width = Math.max(...cells.map((text) => text.length));
    cells.forEach((text, index) => (rows[index] += text.padEnd(width)));
  };
  let next = 0;
  for (const step of busy) {
    const gap = step - next;
    if (gap > LONGEST_RUN) add(() => `${next === 0 ? '' : ' '}${lengthOf(gap, everyMs)} `);
    else add(() => '-'.repeat(gap));
    add((lane) => {
      const marks = lane.get(step) ?? '-';
      return marks.length > 1 ? `(${marks})` : marks;
    });
    next = step + 1;
  }
  return rows.map((row) => (row === '' ? '-' : row.trimEnd()));
};

const eventOf = (happening: Happening): { readonly at: number; readonly what: string } => {
  if (typeof happening !== 'string') return happening;
  const [, at, what = ''] = /^(-?\d+(?:\.\d+)?) (.+)$/s.exec(happening) ?? [];
  if (at === undefined) throw new Error(`"${happening}" begins with no time`);
  return { at: Number(at), what };
};

/** The step of a time. */
const stepAt = (atMs: number, { everyMs, floor = false }: LaneScale, what: string): number => {
  const steps = atMs / everyMs;
  const whole = Math.round(steps);
  // Sums of fractions are not exact in binary.
  if (Math.abs(steps - whole) < 1e-6) return whole;
  if (!floor) throw new Error(`"${what}" at ${atMs} ms is between two steps of ${everyMs} ms`);
  return Math.floor(steps);
};

/** Lanes of marks from a history. `place` finds the lane and the mark of an event. */
const lanesOf = (
  history: readonly Happening[],
  scale: LaneScale,
  names: readonly string[],
  place: (what: string) => { readonly name: string; readonly mark: string },
): ReadonlyMap<string, Lane> => {
  const lanes = new Map<string, Map<number, string>>(names.map((name) => [name, new Map()]));
  for (const { at, what } of history.map(eventOf)) {
    const { name, mark } = place(what);
    const lane = lanes.get(name) ?? new Map<number, string>();
    const step = stepAt(at, scale, what);
    lanes.set(name, lane.set(step, `${lane.get(step) ?? ''}${mark}`));
  }
  return lanes;
};

/**
 * Compares a history with its picture, in which each character is one step of time. `-` is a step without an event, `(ab)` one
 * step with two, ` 5s ` a length of time. Spaces line pictures up.
 *
 * - `toBe('(gp)--r', { g: 'get', p: 'put', r: 'reset' })` draws all events in their order, with the letters of a legend.
 * - `toBe({ 'start main': '0--1', stop: '-s--' })` draws one lane for each kind of event. An event belongs to the lane with the
 *   longest name with which its text begins. It is drawn as the character that follows this name if there is only one, as in
 *   `start main 0`, and otherwise as the first letter of its text.
 *
 * Errors: the picture differs, or an event has no letter or no lane. The message has both pictures, one above the other.
 */
export const expectLanes = (history: readonly Happening[], scale: LaneScale): LanesExpectation => ({
  toBe: (...[expected, legend = {}]): void => {
    const pictures: Lanes = typeof expected === 'string' ? { '': expected } : expected;
    const longestFirst = Object.keys(pictures).toSorted((one, other) => other.length - one.length);
    const letters = new Map(Object.entries(legend).map(([letter, what]) => [what, letter]));
    const inOrder = (what: string) => {
      const mark = letters.get(what);
      return mark === undefined ? { name: what, mark: firstOf(what) } : { name: '', mark };
    };
    const byKind = (what: string) => {
      const name = longestFirst.find((lane) => isIn(lane, what)) ?? what;
      return { name, mark: markOf(name, what) };
    };
    const actual = lanesOf(history, scale, Object.keys(pictures), typeof expected === 'string' ? inOrder : byKind);
    const rows = [...actual].flatMap(([name, lane]) => [parse(pictures[name] ?? '', scale.everyMs), lane]);
    const drawn = draw(rows, scale.everyMs);
    const width = Math.max(...[...actual.keys()].map((name) => name.length));
    const lines = (offset: 0 | 1) =>
      [...actual.keys()].map((name, index) => `  ${`'${name}'`.padEnd(width + 2)} ${drawn[2 * index + offset]}`);
    const [wanted, got] = [lines(0), lines(1)];
    if (wanted.every((line, index) => line === got[index])) return;
    throw new AssertionError({
      message: ['the pictures differ; expected', ...wanted, 'actual', ...got].join('\n'),
      expected: wanted.join('\n'),
      actual: got.join('\n'),
      operator: 'expectLanes',
    });
  },
});

/** The lines of a history about one thing: `linesOf(history, 'start main')`. */
export const linesOf = (history: readonly string[], ...what: readonly string[]): readonly string[] =>
  history.filter((line) => what.some((each) => `${line.slice(line.indexOf(' '))} `.startsWith(` ${each} `)));
