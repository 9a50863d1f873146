import type { ClockFault } from '../faults/fault.js';
import { type SeededRandom, seededRandom } from '../world/seeded-random.js';
import { generateClusterHistory } from './generate-cluster-history.js';
import { generateHistory } from './generate-history.js';
import type { History } from './history.js';
import { quietFromMs } from './quiet-from.js';
import { weighted } from './weighted.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;

/**
 * Returns the history of a seed in which wall clocks are wrong: those of the machine at its boot, of the agent, of the runtime and
 * of the API server, which differ, are set and run at different speeds. The rest is the history of the same seed of a node, or of a
 * node of a cluster. The same for the same seed, and while the generator stays the same.
 */
export const generateClockHistory = (seed: number): History => {
  const draw = seededRandom(`clocks ${seed}`);
  const base = draw.chance(0.3) ? generateClusterHistory(seed) : generateHistory(seed);
  // Clocks alone show a fault best; with other faults its effect may be allowed.
  const others = draw.chance(0.6) ? [] : base.faults.filter(({ kind }) => kind !== 'clock-jumps' || draw.chance(0.5));
  const faults = [...others, ...generateClockFaults(draw.fork('clocks'), base.quietFromMs)];
  const quiet = Math.max(base.quietFromMs, quietFromMs({ ...base, faults }));
  const upkeep = draw.fork('upkeep');
  // Shorter and longer than the five minutes between two collections of images.
  const node = upkeep.chance(0.5) ? { ...base.node, imageMaxAgeMs: upkeep.pick([4, 20]) * MINUTE } : base.node;
  const endMs = quiet + base.endMs - base.quietFromMs;
  return { ...base, node, faults, quietFromMs: quiet, endMs: node === base.node ? endMs : Math.max(endMs, 6 * MINUTE) };
};

const generateClockFaults = (draw: SeededRandom, horizonMs: number): readonly ClockFault[] => {
  const boot = draw.chance(0.3)
    ? [{ kind: 'clock-steps' as const, whose: 'machine' as const, atMs: 0, byMs: step(draw) }]
    : [];
  const apart = (['agent', 'runtime', 'api-server'] as const).flatMap((whose) =>
    draw.chance(0.5) ? [{ kind: 'clock-steps' as const, whose, atMs: 0, byMs: disagreement(draw) }] : [],
  );
  const count = weighted(draw, [
    [2, 0],
    [3, 1],
    [3, 2],
    [2, 4],
  ] as const);
  const steps = Array.from({ length: count }, () => ({
    kind: 'clock-steps' as const,
    whose: draw.pick(['machine', 'machine', 'agent', 'runtime', 'runtime', 'api-server'] as const),
    atMs: draw.integer(1, Math.max(1, horizonMs)),
    byMs: step(draw),
  }));
  const drifts = draw.chance(0.3)
    ? [
        {
          kind: 'clock-drifts' as const,
          whose: draw.pick(['agent', 'runtime'] as const),
          fromMs: 0,
          untilMs: Math.max(1, horizonMs),
          rate: draw.pick([0.9, 0.99, 0.9999, 1.0001, 1.01, 1.1]),
        },
      ]
    : [];
  return [...boot, ...apart, ...steps, ...drifts];
};

/** Seconds, hours or years, forward or back, so that no clock shows a time before 1970; few steps are whole seconds. */
const step = (draw: SeededRandom): number =>
  draw.pick([-1, 1]) *
    weighted<() => number>(draw, [
      [3, () => draw.integer(1, 30) * SECOND],
      [3, () => draw.integer(1, 30) * MINUTE],
      [3, () => draw.integer(1, 48) * HOUR],
      [1, () => draw.integer(1, 10) * YEAR],
    ])() +
  draw.integer(-500, 500);

const disagreement = (draw: SeededRandom): number =>
  draw.pick([-1, 1]) * (draw.chance(0.3) ? draw.integer(1, 59) * SECOND : draw.integer(1, 30) * MINUTE);
