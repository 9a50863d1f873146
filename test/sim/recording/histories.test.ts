import { describe, expect, it } from 'vitest';
import { kubelet } from '../../../src/kubelet.js';
import { replay } from '../../../src/tools/recording/replay.js';
import { generateClusterHistory } from '../../../src/tools/sim/histories/generate-cluster-history.js';
import { generateHistory } from '../../../src/tools/sim/histories/generate-history.js';
import { runHistory } from '../../../src/tools/sim/histories/run-history.js';
import { recordingsInMemory } from './recordings-in-memory.js';

const SEEDS = 100;
/** Most of what a history has in store happens early. */
const AS_FAR_AS_MS = 45_000;

/** Every life of the agent in the history of a seed, replayed: how each of them ended. */
const livesOf = (seed: number, generate = generateHistory) => {
  const history = generate(seed);
  const { makeKubelet, recordings } = recordingsInMemory();
  runHistory({ ...history, endMs: Math.min(history.endMs, AS_FAR_AS_MS) }, { invariants: [], makeKubelet });
  return recordings().map((recording) => ({ seed, recording, result: replay(recording, kubelet) }));
};

describe('a recording of a simulated node', () => {
  for (let from = 0; from < SEEDS; from += 25) {
    it(`replays without a difference, with any faults: seeds ${from} to ${from + 24}`, () => {
      const lives = Array.from({ length: 25 }, (_, index) => livesOf(from + index)).flat();
      expect(lives.reduce((sum, { result: { effects } }) => sum + effects, 0)).toBeGreaterThan(25 * 100);
      for (const { seed, recording, result } of lives) {
        const whole = { kind: 'same', end: 'ended', entries: recording.lines.length };
        expect({ seed, ...result }).toMatchObject({ seed, ...whole });
      }
    });
  }

  it('of a cluster does so as well', () => {
    const lives = Array.from({ length: 6 }, (_, seed) => livesOf(seed, generateClusterHistory)).flat();
    for (const { seed, recording, result } of lives) {
      const whole = { kind: 'same', end: 'ended', entries: recording.lines.length };
      expect({ seed, ...result }).toMatchObject({ seed, ...whole });
    }
  });
});
