import { describe } from 'vitest';
import { lackingForContainerd as missing } from './lacking.js';

/** A test with a containerd of its own also waits for that and for its agent, beside others that do the same. */
const TIMEOUT_MS = 240_000;

/**
 * Tests over a real containerd, at the same time as others of the file unless they are alone. Where there cannot be one they are
 * skipped, and that is said; in CI they fail instead.
 */
export const overContainerd = (name: string, tests: () => void, { alone = false } = {}): void => {
  if (missing.length === 0 || process.env.CI === 'true') {
    const how = alone ? describe.sequential : describe.concurrent;
    how(`over containerd, ${name}`, { timeout: TIMEOUT_MS }, tests);
    return;
  }
  console.warn(`SKIPPED, not tested over a real containerd: ${name}. Missing: ${missing.join(', ')}.`);
  describe.skip(`over containerd, ${name} (skipped; missing: ${missing.join(', ')})`, tests);
};
