import { Session } from 'node:inspector';
import { Observable, take } from 'rxjs';
import type { ProfileKind } from '../model/server/profile-request.js';
import type { RecordProfile } from '../streams/ports/record-profile.js';

interface Calls {
  /** Calls before the start, each by itself. */
  readonly before: readonly string[];
  readonly start: readonly [call: string, parameters?: object];
  readonly stop: string;
}

const COLLECTED = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };

/** The protocol of the inspector of V8. */
const CALLS: Readonly<Record<ProfileKind, Calls>> = {
  cpu: { before: ['Profiler.enable'], start: ['Profiler.start'], stop: 'Profiler.stop' },
  heap: { before: ['HeapProfiler.enable'], start: ['HeapProfiler.startSampling'], stop: 'HeapProfiler.stopSampling' },
  allocs: {
    before: ['HeapProfiler.enable'],
    start: ['HeapProfiler.startSampling', COLLECTED],
    stop: 'HeapProfiler.stopSampling',
  },
};

/**
 * The `RecordProfile` port by the inspector of this process, without a port of its own. Memory is sampled, never
 * written as a whole: a snapshot of the heap contains keys, tokens and the values of Secrets.
 */
export const recordProfile: RecordProfile = (kind, until$) =>
  new Observable((subscriber) => {
    const session = new Session();
    const call = (name: string, parameters: object, done: (reply: unknown) => void): void =>
      session.post(name, parameters, (error, reply) => {
        if (subscriber.closed) return;
        // Not an instance of Error, but with its message.
        if (error) subscriber.error(new Error(`${name}: ${error.message}`, { cause: error }));
        else done(reply);
      });
    // Ends a recording that is under way, too.
    subscriber.add(() => session.disconnect());
    const { before, start, stop } = CALLS[kind];
    session.connect();
    for (const name of before) call(name, {}, () => undefined);
    call(start[0], start[1] ?? {}, () => undefined);
    subscriber.add(
      until$.pipe(take(1)).subscribe({
        next: () =>
          call(stop, {}, (reply) => {
            subscriber.next(JSON.stringify((reply as { readonly profile: object }).profile));
            subscriber.complete();
          }),
        error: (error: unknown) => subscriber.error(error),
      }),
    );
  });
