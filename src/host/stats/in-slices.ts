import { performance } from 'node:perf_hooks';

/** The milliseconds of synchronous reads after which other work of the process gets its turn. */
const SLICE_MS = 4;

/** Returns a function to call between two steps of synchronous work: it waits for the next turn of the event loop if the slice is over. */
export const inSlices = (): (() => Promise<void>) => {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < SLICE_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    startedAt = performance.now();
  };
};
