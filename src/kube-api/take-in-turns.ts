import type { Readable } from 'node:stream';

/** One part may cause much work: a set of pods, entries in the journal and the log, an event. */
const MOST_IN_A_TURN = 16;

/**
 * Splits each chunk into parts and calls `take` with each part, at most `mostInATurn` times in one turn of the event loop, and for at most one
 * chunk: a socket would otherwise emit all its data at once, up to 2 MiB. The end comes after the last part. After an
 * error the remaining parts are dropped.
 */
export const takeInTurns = <T>(
  readable: Readable,
  partsOf: (chunk: Buffer) => readonly T[],
  take: (part: T) => void,
  mostInATurn = MOST_IN_A_TURN,
): void => {
  readable.on('data', (chunk: Buffer) => {
    readable.pause();
    const parts = partsOf(chunk);
    let next = 0;
    const turn = (): void => {
      const end = Math.min(parts.length, next + mostInATurn);
      while (next < end) take(parts[next++]!);
      setImmediate(() => {
        if (readable.destroyed) return;
        if (next < parts.length) turn();
        else readable.resume();
      });
    };
    turn();
  });
};
