import type { NodeBehaviours } from '../world/behaviour.js';
import { type SeededRandom, seededRandom } from '../world/seeded-random.js';
import { generateBehaviours, generateImages } from './generate-behaviours.js';
import { generateFaults } from './generate-faults.js';
import { generatePodPlan, type GeneratedPlan } from './generate-pod-plan.js';
import type { History, HistoryNode, PodPlan } from './history.js';
import { quietFromMs } from './quiet-from.js';
import { weighted } from './weighted.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The name of the simulated node. */
const NODE_NAME = 'node-1';

/**
 * Returns the history of a seed: the same for the same seed, and while the generator stays the same. Most of them take
 * a few minutes of virtual time, some take hours.
 */
export const generateHistory = (seed: number): History => {
  const random = seededRandom(seed);
  const shape = random.fork('shape');
  const isLong = shape.chance(0.01);
  const horizonMs = isLong ? shape.integer(60, 120) * MINUTE : shape.integer(30, 180) * SECOND;
  const count = weighted(shape, [
    [4, 1],
    [3, 2],
    [2, 3],
    [1, 4],
  ] as const);
  const plans = Array.from({ length: count }, (_, index) =>
    planOf(random.fork(`pod ${index}`), index, { horizonMs, isNameShared: index > 0 && shape.chance(0.1) }),
  );
  const pods = plans.map(({ plan }) => plan);
  const sources = [...new Set(pods.map(({ source }) => source))];
  const faults = generateFaults(random.fork('faults'), { horizonMs: Math.min(horizonMs, 4 * MINUTE), sources });
  const node = drawNode(random.fork('node'));
  const quietMs = Math.max(quietFromMs({ pods, faults, node }), isLong ? horizonMs : Math.floor(horizonMs / 2));
  return {
    seed,
    node,
    pods,
    behaviours: behavioursOf(random, plans),
    faults,
    quietFromMs: quietMs,
    endMs: quietMs + 3 * MINUTE,
  };
};

export const drawNode = (draw: SeededRandom): HistoryNode => ({
  maxRestartBackOffMs: draw.pick([10, 20, 60, 300]) * SECOND,
  eventedPleg: draw.chance(0.5),
  syncFrequencyMs: draw.pick([10, 20, 60]) * SECOND,
  parallelPulls: draw.integer(1, 3),
});

const planOf = (
  draw: SeededRandom,
  index: number,
  { horizonMs, isNameShared }: { readonly horizonMs: number; readonly isNameShared: boolean },
): GeneratedPlan => {
  const source = weighted<PodPlan['source']>(draw, [
    [5, 'file'],
    [3, 'http'],
    [2, 'api'],
  ]);
  const key = `pod-${index + 1}`;
  return generatePodPlan(draw, { key, name: isNameShared ? 'pod-1' : key, source, nodeName: NODE_NAME, horizonMs });
};

/** The behaviour of everything in the pods of the plans. */
export const behavioursOf = (
  random: SeededRandom,
  plans: readonly Pick<GeneratedPlan, 'manifests'>[],
): NodeBehaviours => {
  const draw = random.fork('behaviours');
  const containers = plans
    .flatMap(({ manifests }) => manifests)
    .map((manifest) => generateBehaviours(draw, manifest))
    // The first of two pods with one name decides.
    .reduceRight((later, earlier) => ({ ...later, ...earlier }), {});
  return {
    containers,
    images: generateImages(draw),
    callMs: draw.pick([
      { min: 1, max: 1 },
      { min: 1, max: 5 },
      { min: 1, max: 30 },
    ]),
    ...(draw.chance(0.3) && { sandboxMs: { min: 10, max: draw.integer(10, 3_000) } }),
    eventMs: draw.pick([
      { min: 0, max: 0 },
      { min: 0, max: 2 },
      { min: 0, max: 100 },
    ]),
    ...(draw.chance(0.15) && { tellsNoEvents: true }),
    ...(draw.chance(0.5) && { stopOutlivesCaller: true }),
    ...(random.fork('given-up').chance(0.5) && { breaksOffGivenUp: 0.5 }),
  };
};
