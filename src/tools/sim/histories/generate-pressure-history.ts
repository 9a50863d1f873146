import type { EvictionPolicy } from '../../../model/eviction/eviction-policy.js';
import type { EvictionSignal } from '../../../model/eviction/signals.js';
import type { Threshold } from '../../../model/eviction/thresholds.js';
import type { ResourceFault } from '../faults/fault.js';
import { type SeededRandom, seededRandom } from '../world/seeded-random.js';
import { generateHistory } from './generate-history.js';
import type { History, HistoryEviction, PodPlan, ResourceUse } from './history.js';
import { quietFromMs } from './quiet-from.js';
import { weighted } from './weighted.js';

const SECOND = 1_000;
const RESOURCES = ['memory', 'disk', 'pids'] as const;
const PRIORITIES = [-10, 0, 0, 1_000, 2_000_000_000] as const;
const SIGNALS: Readonly<Record<(typeof RESOURCES)[number], readonly EvictionSignal[]>> = {
  memory: ['memory.available'],
  disk: ['nodefs.available', 'imagefs.available'],
  pids: ['pid.available'],
};

/**
 * Returns the history of a seed in which a resource of the node runs short, once or a few times, and pods are evicted. In some there is not room for all pods. Most pods come from the
 * API, since those of manifests are never evicted. The rest is the history of the same seed of a node. The same for the same seed, and
 * while the generator stays the same.
 */
export const generatePressureHistory = (seed: number): History => {
  const draw = seededRandom(`pressure ${seed}`);
  const base = generateHistory(seed);
  // A shortage alone shows its effects best; other faults may allow them.
  const others = draw.chance(0.6) ? [] : base.faults;
  const count = weighted(draw, [
    [3, 1],
    [2, 2],
    [1, 3],
  ] as const);
  const fills = Array.from({ length: count }, () => drawFill(draw, base.quietFromMs));
  const faults = [...others, ...fills];
  const pods = base.pods.map((plan) => drawPlan(draw, plan));
  const eviction = drawEviction(draw, pods);
  const podCapacity = drawCapacity(seededRandom(`places ${seed}`), pods.length);
  const node = { ...base.node, eviction, ...(podCapacity !== undefined && { podCapacity }) };
  // A condition that lasts is over before the end.
  const quiet = Math.max(base.quietFromMs, quietFromMs({ ...base, faults }) + eviction.policy.pressureTransitionMs);
  return { ...base, node, pods, faults, quietFromMs: quiet, endMs: quiet + base.endMs - base.quietFromMs };
};

/** Some nodes have no room for all of their pods, so that critical ones need that of others. */
const drawCapacity = (draw: SeededRandom, pods: number): number | undefined =>
  pods > 1 && draw.chance(0.4) ? draw.integer(1, pods - 1) : undefined;

const drawFill = (draw: SeededRandom, horizonMs: number): ResourceFault => {
  const fromMs = draw.integer(1, Math.max(1, horizonMs));
  return {
    kind: 'resource-fills',
    resource: draw.pick(RESOURCES),
    amount: draw.integer(500, 1_000),
    fromMs,
    untilMs: fromMs + draw.integer(5, 60) * SECOND,
  };
};

const drawPlan = (draw: SeededRandom, plan: PodPlan): PodPlan => {
  const priority = draw.pick(PRIORITIES);
  return {
    ...plan,
    source: draw.chance(0.8) ? 'api' : plan.source,
    changes: plan.changes.map(({ pod, ...change }) => ({
      ...change,
      ...(pod && { pod: { ...pod, spec: { ...pod.spec, priority } } }),
    })),
  };
};

const drawEviction = (draw: SeededRandom, pods: readonly PodPlan[]): HistoryEviction => {
  const names = new Set(
    pods.flatMap(({ changes }) =>
      changes.flatMap(({ pod }) => (pod ? pod.spec.containers.map(({ name }) => name) : [])),
    ),
  );
  return { policy: drawPolicy(draw), use: Object.fromEntries([...names].map((name) => [name, drawUse(draw)])) };
};

/** Small beside the node: without a fill nothing is short. */
const drawUse = (draw: SeededRandom): ResourceUse => ({
  memory: draw.integer(0, 60),
  disk: draw.integer(0, 30),
  pids: draw.integer(0, 40),
});

const drawPolicy = (draw: SeededRandom): EvictionPolicy => ({
  thresholds: RESOURCES.flatMap((resource) => {
    const signal = draw.pick(SIGNALS[resource]);
    const hard = drawThreshold(draw, signal, 0);
    return draw.chance(0.4) ? [hard, drawThreshold(draw, signal, draw.integer(5, 40) * SECOND)] : [hard];
  }),
  pressureTransitionMs: draw.integer(10, 60) * SECOND,
  maxPodGraceSeconds: draw.pick([0, 0, 5, 60]),
  enforcesLocalLimits: true,
});

const drawThreshold = (draw: SeededRandom, signal: EvictionSignal, gracePeriodMs: number): Threshold => ({
  signal,
  value: gracePeriodMs === 0 ? { amount: draw.integer(100, 300), format: 'DecimalSI' } : { share: 0.4 },
  gracePeriodMs,
  ...(draw.chance(0.3) && { minReclaim: { share: 0.05 } }),
});
