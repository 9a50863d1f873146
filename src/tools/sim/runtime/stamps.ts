import type { NodeClock } from '../world/node-clock.js';

/** Unix nanoseconds by the node's clock; no two are equal, and a later one is larger unless the clock was set back. */
export const stamps = (clock: NodeClock): (() => bigint) => {
  let lastMs = Number.NaN;
  let count = 0;
  return () => {
    const nowMs = clock.now();
    count = nowMs === lastMs ? count + 1 : 0;
    lastMs = nowMs;
    return BigInt(nowMs) * 1_000_000n + BigInt(count);
  };
};
