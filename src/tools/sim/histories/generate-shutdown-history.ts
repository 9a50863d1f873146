import type { ShutdownFault } from '../faults/fault.js';
import type { ShutdownGroup } from '../../../model/shutdown/shutdown-groups.js';
import { type SeededRandom, seededRandom } from '../world/seeded-random.js';
import { generateHistory } from './generate-history.js';
import type { History, PodPlan } from './history.js';
import { quietFromMs } from './quiet-from.js';
import { weighted } from './weighted.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PRIORITIES = [0, 1_000, 2_000_000_000] as const;

/**
 * Returns the history of a seed in which the machine shuts down and boots, once or twice, and the agent stops its pods in groups before that. The
 * rest is the history of the same seed of a node. The same for the same seed, and while the generator stays the same.
 */
export const generateShutdownHistory = (seed: number): History => {
  const draw = seededRandom(`shutdown ${seed}`);
  const base = generateHistory(seed);
  const groups = drawGroups(draw);
  // A shutdown alone shows its effects best; other faults may allow them.
  const others = draw.chance(0.6) ? [] : base.faults;
  const count = weighted(draw, [
    [3, 1],
    [1, 2],
  ] as const);
  const shutdowns = Array.from({ length: count }, () => drawShutdown(draw, base.quietFromMs, groups));
  const faults = [...others, ...shutdowns];
  const pods = base.pods.map((plan) => withPriority(plan, draw.pick(PRIORITIES)));
  const node = { ...base.node, shutdownGroups: groups };
  const quiet = Math.max(base.quietFromMs, quietFromMs({ ...base, faults }));
  return { ...base, node, pods, faults, quietFromMs: quiet, endMs: quiet + base.endMs - base.quietFromMs };
};

/** Often one for each of the priorities, sometimes fewer. */
const drawGroups = (draw: SeededRandom): readonly ShutdownGroup[] => {
  const priorities = draw.chance(0.7) ? PRIORITIES : draw.chance(0.5) ? [0, 2_000_000_000] : [1_000];
  return priorities.map((priority) => ({ priority, graceSeconds: draw.chance(0.1) ? 0 : draw.integer(1, 40) }));
};

const drawShutdown = (draw: SeededRandom, horizonMs: number, groups: readonly ShutdownGroup[]): ShutdownFault => {
  const needsMs = groups.reduce((sum, { graceSeconds }) => sum + graceSeconds * SECOND, 0);
  return {
    kind: 'machine-shuts-down',
    atMs: draw.integer(1, Math.max(1, horizonMs)),
    maxDelayMs: needsMs + MINUTE,
    downMs: draw.integer(1, 60) * SECOND,
  };
};

const withPriority = (plan: PodPlan, priority: number): PodPlan => ({
  ...plan,
  changes: plan.changes.map(({ pod, ...change }) => ({
    ...change,
    ...(pod && { pod: { ...pod, spec: { ...pod.spec, priority } } }),
  })),
});
