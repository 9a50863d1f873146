import { describe, expect, it } from 'vitest';
import { generateHistory } from '../../../src/tools/sim/histories/generate-history.js';
import { runHistory, type RunOptions } from '../../../src/tools/sim/histories/run-history.js';
import { recordingsInMemory } from './recordings-in-memory.js';

const SEEDS = 30;

/** Everything that happens in the world of a seed. */
const worldOf = (seed: number, makeKubelet?: RunOptions['makeKubelet']): readonly string[] => {
  const history = generateHistory(seed);
  const events: string[] = [];
  const text = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
  runHistory(
    { ...history, endMs: Math.min(history.endMs, 60_000) },
    { invariants: [], makeKubelet, tell: (event) => events.push(JSON.stringify(event, text)) },
  );
  return events;
};

describe('an agent that is recorded', () => {
  it(`does to its world what it does without a recorder, at the same times: ${SEEDS} seeds`, () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const [alone, recorded] = [worldOf(seed), worldOf(seed, recordingsInMemory().makeKubelet)];
      expect(alone.length).toBeGreaterThan(50);
      const first = alone.findIndex((event, index) => event !== recorded[index]);
      expect({ seed, event: recorded[first] }).toEqual({ seed, event: alone[first] });
      expect(recorded).toHaveLength(alone.length);
    }
  });
});
