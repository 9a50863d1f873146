import type { ApiObject } from '../kube-api/api-object.js';
import { isGone } from '../kube-api/api-error.js';
import { statusError } from './list-watch-error.js';
import type { ReflectorEvent } from './reflector-event.js';
import { type ReflectorPosition, startPosition, unavailable } from './reflector-position.js';
import { foldWatchLine, startWatch, type WatchCursor, type WatchLine } from './watch-cursor.js';
import { type AfterWatch, afterWatch, type EndedWatch } from './watch-end.js';

/** The progress of a reflector from one list or watch to the next. */
export interface ReflectorProgress {
  readonly position: ReflectorPosition;
  /** The number of watches in a row that have ended in silence. */
  readonly silentInRow: number;
  /** The version from which the last failed watch could not start, because the server no longer had it. */
  readonly goneAt: string | undefined;
}

/** `notOlderThan`: see `startPosition`. */
export const startProgress = (notOlderThan?: string): ReflectorProgress => ({
  position: startPosition(notOlderThan),
  silentInRow: 0,
  goneAt: undefined,
});

/** An input of a watch: the reply of the server, a line of it, or an end that is no line. */
export type WatchInput =
  | { readonly kind: 'opened' }
  | { readonly kind: 'event'; readonly type: WatchLine['type'] | 'ERROR'; readonly object: unknown }
  | { readonly kind: 'end'; readonly how: EndedWatch['how'] };

/** The news of a watch after an input. */
export type WatchNews<T extends ApiObject> =
  | { readonly kind: 'opened' }
  | { readonly kind: 'event'; readonly event: ReflectorEvent<T> }
  | { readonly kind: 'ended'; readonly after: AfterWatch; readonly progress: ReflectorProgress };

/** One watch. */
export interface WatchRun<T extends ApiObject> {
  /** The scheduler's milliseconds. */
  readonly startedAt: number;
  /** The progress before the watch. */
  readonly before: ReflectorProgress;
  readonly cursor: WatchCursor;
  /** The server has replied with a stream. */
  readonly wasOpen: boolean;
  /** The server has sent a line. */
  readonly hadMessage: boolean;
  /** The news after the last input; absent if there are none. */
  readonly news?: WatchNews<T> | undefined;
}

/** Begins a watch at `now`, the scheduler's milliseconds. */
export const startWatchRun = (before: ReflectorProgress, now: number): WatchRun<never> => ({
  startedAt: now,
  before,
  cursor: startWatch(before.position),
  wasOpen: false,
  hadMessage: false,
});

/** The time of an input, by the scheduler in milliseconds, and the type of objects in the schema table. */
export interface WatchTerms {
  readonly now: number;
  /** Without a type, objects are not checked. */
  readonly typeOfObject?: string | undefined;
}

/** Returns the watch after an input. */
export const foldWatchInput = <T extends ApiObject>(
  run: WatchRun<T>,
  input: WatchInput,
  { now, typeOfObject }: WatchTerms,
): WatchRun<T> => {
  if (input.kind === 'end') return ended(run, input.how, now);
  if (input.kind === 'opened') return { ...run, wasOpen: true, news: { kind: 'opened' } };
  const { type, object } = input;
  const open = { ...run, wasOpen: true, hadMessage: true };
  if (type === 'ERROR') return ended(open, { kind: 'said', error: statusError(object) }, now);
  const { cursor, event, wentBack } = foldWatchLine<T>(run.cursor, { type, object }, typeOfObject);
  const next = { ...open, cursor };
  if (wentBack) return ended(next, { kind: 'went-back', error: wentBack }, now);
  return { ...next, news: event && { kind: 'event', event } };
};

const ended = <T extends ApiObject>(run: WatchRun<T>, how: EndedWatch['how'], now: number): WatchRun<T> => {
  const { startedAt, before, cursor, wasOpen, hadMessage } = run;
  const silentInRow = how.kind === 'silent' && !hadMessage ? before.silentInRow + 1 : 0;
  const after = afterWatch({ how, wasOpen, livedMs: now - startedAt, hadNews: cursor.hadNews, silentInRow });
  const progress = { ...before, position: cursor.position, silentInRow };
  return { ...run, news: { kind: 'ended', after, progress: progressAfter(progress, how) } };
};

const progressAfter = (progress: ReflectorProgress, how: EndedWatch['how']): ReflectorProgress => {
  const { position, goneAt } = progress;
  if (how.kind === 'went-back') return { ...progress, position: unavailable(position) };
  if (!('error' in how) || !isGone(how.error)) return progress;
  // A list did not help: the server returned the same version again.
  const isAgain = goneAt === position.resourceVersion;
  return {
    ...progress,
    position: isAgain ? unavailable(position) : position,
    goneAt: position.resourceVersion,
  };
};
