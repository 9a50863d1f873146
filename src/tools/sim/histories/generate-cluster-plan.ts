import type { PodManifest } from '../../../model/manifest/pod-manifest.js';
import type { SeededRandom } from '../world/seeded-random.js';
import type { ClusterChange, ClusterPlan } from './cluster-plan.js';
import { generatePod, IMAGES } from './generate-pod.js';
import { weighted } from './weighted.js';

interface ClusterSketch {
  readonly nodeName: string;
  /** No change comes later. */
  readonly horizonMs: number;
}

export interface GeneratedCluster {
  readonly plan: ClusterPlan;
  /** The created object. */
  readonly manifests: readonly PodManifest[];
}

/** Generates pods that users create, change, delete and create again, and the settings of the API server. */
export const generateClusterPlan = (draw: SeededRandom, sketch: ClusterSketch): GeneratedCluster => {
  const count = weighted(draw, [
    [3, 1],
    [3, 2],
    [2, 3],
    [1, 5],
  ] as const);
  const lives = Array.from({ length: count }, (_, index) =>
    lifeOf(draw.fork(`life ${index}`), `web-${index + 1}`, sketch),
  );
  const nodeGoes = draw.chance(0.06) ? [{ kind: 'delete-node', atMs: draw.integer(1, sketch.horizonMs) } as const] : [];
  const changes = [...lives.flat(), ...nodeGoes].sort((one, other) => one.atMs - other.atMs);
  return {
    manifests: changes.flatMap((change) => (change.kind === 'create' ? [change.pod] : [])),
    plan: {
      changes,
      latencyMs: draw.pick([
        { min: 1, max: 1 },
        { min: 1, max: 10 },
        { min: 5, max: 120 },
      ]),
      cacheLagMs: draw.pick([
        { min: 0, max: 0 },
        { min: 0, max: 100 },
        { min: 0, max: 2_000 },
      ]),
      keptChanges: draw.pick([5, 50, 1_000]),
    },
  };
};

/** The actions on one name. */
const lifeOf = (draw: SeededRandom, name: string, { nodeName, horizonMs }: ClusterSketch): readonly ClusterChange[] => {
  const changes: ClusterChange[] = [];
  let atMs = draw.chance(0.6) ? draw.integer(0, 2_000) : draw.integer(0, Math.floor(horizonMs / 2));
  let isThere = false;
  const create = (): void => {
    changes.push({ kind: 'create', atMs, pod: placed(generatePod(draw, name), nodeName, draw) });
    isThere = true;
  };
  create();
  for (let left = draw.pick([0, 1, 1, 2, 3, 5]); left > 0; left--) {
    atMs += gap(draw, horizonMs);
    if (atMs > horizonMs) break;
    if (!isThere) {
      create();
      continue;
    }
    const change = draw.next();
    if (change < 0.45) {
      changes.push({ kind: 'delete', pod: name, atMs, ...(draw.chance(0.4) && { graceSeconds: grace(draw) }) });
      // An impatient user deletes again, and some do not even wait for the node.
      if (draw.chance(0.25)) {
        atMs += draw.integer(1, 3_000);
        changes.push({ kind: 'delete', pod: name, atMs, graceSeconds: draw.chance(0.5) ? 0 : draw.integer(1, 5) });
      }
      isThere = false;
      // A controller creates the next one at once.
      if (draw.chance(0.4)) create();
    } else changes.push(changed(draw, name, atMs, left));
  }
  return changes;
};

const changed = (draw: SeededRandom, pod: string, atMs: number, version: number): ClusterChange => {
  const kind = draw.next();
  if (kind < 0.4) return { kind: 'patch', pod, atMs, patch: { metadata: { labels: { version: `v${version}` } } } };
  if (kind < 0.55) return { kind: 'patch', pod, atMs, patch: { spec: { activeDeadlineSeconds: draw.integer(1, 60) } } };
  if (kind < 0.8) {
    const status = draw.pick(['True', 'False'] as const);
    return { kind: 'patch-status', pod, atMs, patch: { status: { conditions: [{ type: GATE, status }] } } };
  }
  const image = draw.pick(IMAGES);
  return { kind: 'patch', pod, atMs, patch: { spec: { containers: [{ name: 'main', image }] } } };
};

/** A condition of another controller, which some pods wait for. */
const GATE = 'example.com/gate';

const placed = (pod: PodManifest, nodeName: string, draw: SeededRandom): PodManifest => ({
  ...pod,
  spec: {
    ...pod.spec,
    nodeName,
    ...(draw.chance(0.15) && { readinessGates: [{ conditionType: GATE }] }),
  },
});

const grace = (draw: SeededRandom): number => draw.pick([0, 1, 2, 5, 20]);

const gap = (draw: SeededRandom, horizonMs: number): number =>
  weighted<() => number>(draw, [
    [2, () => draw.integer(0, 50)],
    [4, () => draw.integer(50, 5_000)],
    [4, () => draw.integer(5_000, Math.max(5_000, Math.floor(horizonMs / 3)))],
  ])();
