import { createLogUpdate } from 'log-update';
import {
  asyncScheduler,
  combineLatest,
  finalize,
  map,
  type Observable,
  scan,
  type SchedulerLike,
  startWith,
  tap,
  throttleTime,
  timer,
} from 'rxjs';
import type { Pod } from '../model/pod.js';
import type { Note } from './kubelet-handle.js';
import { podRow } from './pod-row.js';
import { podTable } from './pod-table.js';

export interface Frame {
  readonly pods: readonly Pod[];
  /** The newest last. */
  readonly notes: readonly Note[];
}

/** A person does not read faster. */
const AT_MOST_EVERY_MS = 250;
/** Ages grow without anything happening. */
const AGES_EVERY_MS = 1000;
const NOTES_SHOWN = 6;

/** What to show whenever it changes, at most four times a second; the last change of a burst is never lost. */
export const frames = (
  pod$: Observable<readonly Pod[]>,
  note$: Observable<Note>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Frame> =>
  combineLatest([
    pod$,
    note$.pipe(
      scan((notes: readonly Note[], note) => [...notes, note].slice(-NOTES_SHOWN), []),
      startWith([]),
    ),
    timer(0, AGES_EVERY_MS, scheduler),
  ]).pipe(
    throttleTime(AT_MOST_EVERY_MS, scheduler, { leading: true, trailing: true }),
    map(([pods, notes]) => ({ pods, notes })),
  );

/** A frame as text: the table, and beneath it what happened last. */
export const frameText = ({ pods, notes }: Frame, now: number, width: number): string =>
  [
    pods.length === 0 ? 'No pods yet.' : podTable(pods.map((pod) => podRow(pod, now))),
    ...(notes.length === 0
      ? []
      : ['', ...notes.map(({ level, text }) => (level === 'info' ? text : `${level}: ${text}`))]),
  ]
    .join('\n')
    .split('\n')
    .map((line) => (line.length > width ? `${line.slice(0, Math.max(0, width - 1))}…` : line))
    .join('\n');

/** Keeps the frames on the terminal, one over the other; the last one stays when it is unsubscribed. */
export const liveTable = (
  frame$: Observable<Frame>,
  terminal: NodeJS.WriteStream,
  now: () => number,
): Observable<Frame> => {
  const render = createLogUpdate(terminal, { showCursor: true });
  return frame$.pipe(
    tap((frame) => render(frameText(frame, now(), terminal.columns))),
    finalize(() => render.done()),
  );
};
