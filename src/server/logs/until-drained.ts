import type { Writable } from 'node:stream';
import { defer, EMPTY, fromEvent, ignoreElements, merge, type Observable, take } from 'rxjs';

/** Completes when the output takes more bytes: at once, after its reader has read enough, or when it is closed. */
export const untilDrained = (output: Writable): Observable<never> =>
  defer(() =>
    output.writableNeedDrain && !output.destroyed
      ? merge(fromEvent(output, 'drain'), fromEvent(output, 'close')).pipe(take(1), ignoreElements())
      : EMPTY,
  );
