import type { PowerFault } from '../faults/fault.js';
import { type SeededRandom, seededRandom } from '../world/seeded-random.js';
import { generateClusterHistory } from './generate-cluster-history.js';
import { generateHistory } from './generate-history.js';
import type { History } from './history.js';
import { COMMIT_MS } from '../disk/volatile-tree.js';
import { quietFromMs } from './quiet-from.js';
import { weighted } from './weighted.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Returns the history of a seed in which the machine loses its power and boots, once or several times. The rest is the history of the same
 * seed of a node, or of a node of a cluster. The same for the same seed, and while the generator stays the same.
 */
export const generatePowerHistory = (seed: number): History => {
  const draw = seededRandom(`power ${seed}`);
  const base = draw.chance(0.35) ? generateClusterHistory(seed) : generateHistory(seed);
  // A loss of power alone shows its effects best; other faults may allow them.
  const others = draw.chance(0.6) ? [] : base.faults;
  const count = weighted(draw, [
    [6, 1],
    [3, 2],
    [1, 3],
  ] as const);
  const statuses = draw.fork('statuses');
  const losses = Array.from({ length: count }, () => withLostStatuses(generateLoss(draw, base.quietFromMs), statuses));
  const faults = [...others, ...losses];
  const quiet = Math.max(base.quietFromMs, quietFromMs({ ...base, faults }));
  return { ...base, faults, quietFromMs: quiet, endMs: quiet + base.endMs - base.quietFromMs };
};

const generateLoss = (draw: SeededRandom, horizonMs: number): PowerFault => {
  const rest = {
    forgetsMs: draw.chance(0.5) ? 0 : draw.integer(1, COMMIT_MS),
    // A machine without a clock battery.
    ...(draw.chance(0.2) && { clockByMs: -draw.integer(1, 48) * HOUR + draw.integer(-500, 500) }),
  };
  // Most losses at a write come at busy times: early, while pods are being made.
  if (draw.chance(0.5)) {
    const atWrite = draw.chance(0.7) ? draw.integer(1, 60) : draw.integer(60, 300);
    const downMs = draw.integer(1, 20) * SECOND;
    return { kind: 'power-lost', atWrite, when: draw.pick(['before', 'unsynced']), downMs, ...rest };
  }
  const downMs = draw.chance(0.7) ? draw.integer(1, 20) * SECOND : draw.integer(1, 20) * MINUTE;
  return { kind: 'power-lost', atMs: draw.integer(1, Math.max(1, horizonMs)), downMs, ...rest };
};

/** In some losses the runtime also forgets that it has created a container: within the longest time, so that there often is one. */
const withLostStatuses = (fault: PowerFault, draw: SeededRandom): PowerFault =>
  draw.chance(0.4) ? { ...fault, forgetsMs: COMMIT_MS, newShow: draw.pick(['unknown', 'unknown', 'gone']) } : fault;
