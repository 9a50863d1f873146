import { describe } from 'vitest';
import { lackingForCluster as missing } from './lacking.js';

/** The first test of a file waits for a server, a containerd and an agent as well. */
const TIMEOUT_MS = 300_000;

/**
 * Tests over a real API server, at the same time as others of the file unless they are alone. Where there cannot be a server they are
 * skipped, and that is said; in CI they fail instead.
 */
export const overCluster = (name: string, tests: () => void, { alone = false } = {}): void => {
  if (missing.length === 0 || process.env.CI === 'true') {
    (alone ? describe.sequential : describe.concurrent)(`in a cluster, ${name}`, { timeout: TIMEOUT_MS }, tests);
    return;
  }
  console.warn(`SKIPPED, not tested in a real cluster: ${name}. Missing: ${missing.join(', ')}.`);
  describe.skip(`in a cluster, ${name} (skipped; missing: ${missing.join(', ')})`, tests);
};
