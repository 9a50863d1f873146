import { type Axis, positionOf, timeAt } from './axis.js';
import { compactDuration } from './compact-duration.js';
import { formatGoDuration } from '../../model/values/go-duration.js';
import type { Timeline } from './lanes.js';

export interface Tick {
  readonly at: number;
  readonly position: number;
  readonly label: string;
}

export interface TickRoom {
  /** The columns of a character. */
  readonly characterColumns: number;
  /** The free columns between two labels. */
  readonly gapColumns: number;
  /** The visible part of the axis, in columns; all of it by default. */
  readonly start?: number;
  readonly end?: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Round steps between labels. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28, 91, 364].map((count) => count * DAY),
];

/**
 * Returns the labels of the axis, in order and without overlaps: the begin of every stretch between folds, then round
 * times as dense as there is room.
 */
export const ticksOf = (
  { from, clock }: Pick<Timeline, 'from' | 'clock'>,
  axis: Axis,
  { characterColumns, gapColumns, start: first = 0, end: last = axis.columns }: TickRoom,
): readonly Tick[] => {
  const longest = clock === 'time-of-day' ? 'hh:mm:ss'.length : '59m59s'.length;
  const stepMs = stepFor(axis, longest * characterColumns + gapColumns);
  const label = clock === 'time-of-day' ? timeOfDay(stepMs) : sinceStart(from, stepMs);
  const room = (at: number): number => label(at).length * characterColumns + gapColumns;
  const taken: { readonly at: number; readonly start: number; readonly end: number }[] = [];
  const place = (at: number): void => {
    const start = positionOf(axis, at);
    const end = start + room(at);
    const isFree = taken.every((other) => end <= other.start || start >= other.end);
    if (isFree && end - gapColumns <= axis.columns) taken.push({ at, start, end });
  };
  const open = axis.segments.filter(({ fold, start, end }) => !fold && start <= last && end >= first);
  const firstAt = timeAt(axis, first);
  const lastAt = timeAt(axis, last);
  const origin = clock === 'since-start' ? from : 0;
  for (const segment of open) if (segment.start >= first) place(segment.from);
  for (const { from: begin, until } of open) {
    roundTimes(Math.max(begin, firstAt), Math.min(until, lastAt), stepMs, origin).forEach(place);
  }
  return taken
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, start }) => ({ at, position: start, label: label(at) }));
};

/** The smallest step whose labels have room, in the scale outside of folds. */
const stepFor = (axis: Axis, leastColumns: number): number => {
  const open = axis.segments.filter(({ fold }) => !fold);
  const ms = open.reduce((sum, { from, until }) => sum + until - from, 0);
  const columns = open.reduce((sum, { start, end }) => sum + end - start, 0);
  return STEPS.find((step) => (step / Math.max(1, ms)) * columns >= leastColumns) ?? 3640 * DAY;
};

const roundTimes = (from: number, until: number, stepMs: number, origin: number): readonly number[] => {
  const begin = Math.ceil((from - origin) / stepMs);
  const count = Math.max(0, Math.floor((until - origin) / stepMs) - begin + 1);
  return Array.from({ length: count }, (_, index) => origin + (begin + index) * stepMs);
};

const timeOfDay =
  (stepMs: number) =>
  (at: number): string => {
    const text = new Date(at).toISOString();
    if (stepMs >= DAY) return text.slice(0, 10);
    if (stepMs >= MINUTE) return text.slice(11, 16);
    if (stepMs >= SECOND) return text.slice(11, 19);
    return text.slice(11, stepMs >= 100 ? 21 : 23);
  };

const sinceStart =
  (from: number, stepMs: number) =>
  (at: number): string => {
    const ms = at - from;
    if (stepMs >= SECOND) return compactDuration(Math.round(ms / SECOND) * SECOND);
    return formatGoDuration(stepMs >= 100 ? Math.round(ms / 100) * 100 : Math.round(ms));
  };

/** Such as `+13m14.060s`, and never in bare seconds above a minute. */
const sinceStartExactly = (ms: number): string => {
  const whole = Math.round(ms);
  const minutes = Math.floor(whole / MINUTE);
  const seconds = ((whole - minutes * MINUTE) / SECOND).toFixed(3);
  const hours = Math.floor(minutes / 60);
  return `+${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes % 60}m` : ''}${seconds}s`;
};

/** The unit beside the axis: times of day on the axis have no room for their zone. */
export const zoneOf = ({ clock }: Pick<Timeline, 'clock'>): string | undefined =>
  clock === 'time-of-day' ? 'UTC' : undefined;

/** Formats an instant to the millisecond, in the unit of the axis; times of day are marked as UTC. */
export const exactTime = ({ from, clock }: Pick<Timeline, 'from' | 'clock'>, at: number): string =>
  clock === 'time-of-day'
    ? new Date(at).toISOString().slice(11)
    : sinceStartExactly(at - from).padStart('+1h59m59.999s'.length);
