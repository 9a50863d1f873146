import { seededRandom } from '../world/seeded-random.js';
import { behavioursOf, drawNode } from './generate-history.js';
import { generateApiFaults } from './generate-api-faults.js';
import { generateClusterPlan } from './generate-cluster-plan.js';
import { generateFaults } from './generate-faults.js';
import { generatePodPlan } from './generate-pod-plan.js';
import type { History } from './history.js';
import { quietFromMs } from './quiet-from.js';
import { weighted } from './weighted.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The name of the simulated node. */
const NODE_NAME = 'node-1';

/**
 * Returns the history of a seed for a node of a cluster: users of the API, an API server that is away now and then, and
 * sometimes a static pod. The same for the same seed, and while the generator stays the same.
 */
export const generateClusterHistory = (seed: number): History => {
  const random = seededRandom(`cluster ${seed}`);
  const shape = random.fork('shape');
  const horizonMs = shape.integer(30, 180) * SECOND;
  const cluster = generateClusterPlan(random.fork('cluster'), { nodeName: NODE_NAME, horizonMs });
  const statics = Array.from(
    {
      length: weighted(shape, [
        [6, 0],
        [3, 1],
        [1, 2],
      ] as const),
    },
    (_, index) =>
      generatePodPlan(random.fork(`pod ${index}`), {
        key: `pod-${index + 1}`,
        name: `pod-${index + 1}`,
        nodeName: NODE_NAME,
        horizonMs,
        source: shape.pick(['file', 'http'] as const),
      }),
  );
  const pods = statics.map(({ plan }) => plan);
  const sources = [...new Set(pods.map(({ source }) => source))];
  const faults = [
    ...generateApiFaults(random.fork('api faults'), horizonMs),
    // Faults of every node as well, so that both kinds occur together.
    ...(shape.chance(0.5)
      ? generateFaults(random.fork('faults'), { horizonMs, sources: sources.length > 0 ? sources : ['file'] })
      : []),
  ];
  const node = drawNode(random.fork('node'));
  const quietMs = Math.max(quietFromMs({ pods, faults, node, cluster: cluster.plan }), Math.floor(horizonMs / 2));
  return {
    seed,
    node,
    pods,
    faults,
    cluster: cluster.plan,
    behaviours: behavioursOf(random, [...statics, { manifests: cluster.manifests }]),
    quietFromMs: quietMs,
    endMs: quietMs + 4 * MINUTE,
  };
};
