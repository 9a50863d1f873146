import { createLogUpdate } from 'log-update';
import {
  asyncScheduler,
  combineLatest,
  defer,
  finalize,
  fromEvent,
  map,
  type Observable,
  scan,
  type SchedulerLike,
  startWith,
  tap,
  throttleTime,
  timer,
} from 'rxjs';
import type { Pod } from '../../model/pod/pod.js';
import { type Frame, frameText } from './frame-text.js';
import type { Note } from '../kubelet/kubelet-handle.js';

/** A user does not read faster. */
const AT_MOST_EVERY_MS = 250;
/** Ages grow without any event. */
const AGES_EVERY_MS = 1000;
const NOTES_SHOWN = 6;

/** Emits the frame on each change, at most four times a second; the last change of a burst is always emitted. */
export const frames = (
  pod$: Observable<readonly Pod[]>,
  note$: Observable<Note>,
  scheduler: SchedulerLike = asyncScheduler,
  refused: () => readonly string[] = () => [],
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
    map(([pods, notes]) => ({ pods, notes, refused: refused() })),
  );

/** Writes the frames to the terminal, one over the other; the last one stays after the unsubscribe. */
export const liveTable = (
  frame$: Observable<Frame>,
  terminal: NodeJS.WriteStream,
  now: () => number,
): Observable<Frame> =>
  defer(() => {
    const render = createLogUpdate(terminal, { showCursor: true });
    // A terminal wraps its lines again on a resize, so the start of the frame is unknown.
    const resize$ = fromEvent(terminal, 'resize').pipe(
      tap(() => {
        render.clear();
        terminal.write(CLEAR_SCREEN);
      }),
    );
    return combineLatest([frame$, resize$.pipe(startWith(undefined))]).pipe(
      map(([frame]) => frame),
      // The last line is for the cursor.
      tap((frame) => render(frameText(frame, now(), { width: terminal.columns, height: terminal.rows - 1 }))),
      finalize(() => render.done()),
    );
  });

const CLEAR_SCREEN = '\x1b[H\x1b[2J';
