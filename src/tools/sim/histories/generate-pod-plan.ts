import type { PodManifest } from '../../../model/manifest/pod-manifest.js';
import { applySourceDefaults } from '../../../model/manifest/source-defaults.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { SeededRandom } from '../world/seeded-random.js';
import { generatePod, IMAGES } from './generate-pod.js';
import { HISTORY_START_MS, type PlannedPodChange, type PodPlan } from './history.js';
import { weighted } from './weighted.js';

export interface GeneratedPlan {
  readonly plan: PodPlan;
  /** The inputs of the plan's pods. */
  readonly manifests: readonly PodManifest[];
}

interface PlanSketch {
  readonly key: string;
  readonly name: string;
  readonly source: PodPlan['source'];
  readonly nodeName: string;
  /** No change comes later. */
  readonly horizonMs: number;
}

/** Generates a pod that is added, changed, removed and added again. */
export const generatePodPlan = (draw: SeededRandom, sketch: PlanSketch): GeneratedPlan => {
  const { key, name, source, horizonMs } = sketch;
  let uids = 0;
  // A static pod without a UID of its own gets one from its content.
  const hasOwnUid = source === 'api' || draw.chance(0.4);
  const nextUid = () => (hasOwnUid ? `${key}-${++uids}` : undefined);
  const manifests: PodManifest[] = [];
  const changes: PlannedPodChange[] = [];
  const note = (atMs: number, manifest: PodManifest | undefined): void => {
    if (manifest) manifests.push(manifest);
    changes.push(manifest ? { atMs, pod: placed(manifest, sketch) } : { atMs });
  };

  let manifest: PodManifest | undefined = generatePod(draw, name, nextUid());
  let last = manifest;
  let atMs = draw.chance(0.7) ? 0 : draw.integer(0, Math.floor(horizonMs / 3));
  note(atMs, manifest);
  for (
    let left = weighted(draw, [
      [3, 0],
      [3, 1],
      [3, 2],
      [2, 3],
      [1, 6],
    ] as const);
    left > 0;
    left--
  ) {
    atMs += gap(draw, horizonMs);
    if (atMs > horizonMs) break;
    if (!manifest) {
      // An API server never uses a UID again.
      const isSame = source !== 'api' && draw.chance(0.5);
      manifest = isSame ? last : draw.chance(0.5) ? withUid(last, nextUid()) : generatePod(draw, name, nextUid());
      note(atMs, manifest);
    } else {
      const change = draw.next();
      if (change < 0.4) {
        last = manifest;
        manifest = undefined;
        if (source === 'api') atMs = deleteFromApi(draw, changes, { atMs, horizonMs });
        else note(atMs, undefined);
        continue;
      }
      if (change < 0.55) manifest = withUid(generatePod(draw, name), nextUid());
      else if (change < 0.7) manifest = withLabel(manifest, `v${left}`);
      else manifest = withOtherContainer(draw, manifest, left);
      note(atMs, manifest);
    }
    last = manifest;
  }
  return { plan: { key, source, changes }, manifests };
};

const gap = (draw: SeededRandom, horizonMs: number): number =>
  weighted<() => number>(draw, [
    [2, () => draw.integer(0, 50)],
    [4, () => draw.integer(50, 5_000)],
    [4, () => draw.integer(5_000, Math.max(5_000, Math.floor(horizonMs / 3)))],
  ])();

const withUid = (manifest: PodManifest, uid: string | undefined): PodManifest => {
  if (uid === undefined) return manifest;
  return { ...manifest, metadata: { ...manifest.metadata, uid } };
};

const withLabel = (manifest: PodManifest, version: string): PodManifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, labels: { ...manifest.metadata.labels, version } },
});

/** One container is changed, so it has to be started again. */
const withOtherContainer = (draw: SeededRandom, manifest: PodManifest, version: number): PodManifest => {
  const changed = draw.integer(0, manifest.spec.containers.length - 1);
  const image = draw.chance(0.3) ? draw.pick(IMAGES) : undefined;
  const containers = manifest.spec.containers.map((container, index) =>
    index === changed
      ? { ...container, ...(image ? { image } : { env: [{ name: 'VERSION', value: String(version) }] }) }
      : container,
  );
  return { ...manifest, spec: { ...manifest.spec, containers } };
};

const placed = (manifest: PodManifest, { name, source, nodeName }: PlanSketch): Pod => {
  if (source === 'api')
    return {
      ...manifest,
      metadata: { ...manifest.metadata, namespace: 'default', uid: manifest.metadata.uid! },
      spec: { ...manifest.spec, nodeName },
      status: { phase: 'Pending' },
    };
  const origin = source === 'file' ? `/manifests/${name}.yaml` : `http://manifests.test/${name}.yaml`;
  return applySourceDefaults(manifest, { source, nodeName, origin });
};

/**
 * An API server first marks the pod for deletion, with its grace period; that may be shortened once more, or a faulty
 * proxy may lengthen it. Then the pod is removed, sometimes before it has stopped. Returns the time.
 */
const deleteFromApi = (
  draw: SeededRandom,
  changes: PlannedPodChange[],
  { atMs, horizonMs }: { readonly atMs: number; readonly horizonMs: number },
): number => {
  const pod = changes.at(-1)!.pod!;
  let graceSeconds = draw.chance(0.7) ? (pod.spec.terminationGracePeriodSeconds ?? 30) : draw.integer(0, 20);
  const marked = (at: number): PlannedPodChange => ({
    atMs: at,
    pod: {
      ...pod,
      metadata: {
        ...pod.metadata,
        deletionGracePeriodSeconds: graceSeconds,
        deletionTimestamp: new Date(HISTORY_START_MS + at + graceSeconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
      },
    },
  });
  changes.push(marked(atMs));
  let goneAt = atMs;
  if (draw.chance(0.5) && graceSeconds > 1) {
    goneAt += draw.chance(0.5) ? draw.integer(1, 50) : draw.integer(1, graceSeconds * 1000);
    // An API server only ever shortens it; a longer one from elsewhere must be ignored.
    graceSeconds = draw.chance(0.3) ? graceSeconds + draw.integer(1, 20) : draw.integer(0, graceSeconds - 1);
    changes.push(marked(goneAt));
    if (draw.chance(0.5)) {
      goneAt += draw.integer(1, 1_000);
      graceSeconds += draw.integer(1, 20);
      changes.push(marked(goneAt));
    }
  }
  goneAt += draw.chance(0.2) ? draw.integer(1, 3_000) : graceSeconds * 1000 + draw.integer(2_000, 20_000);
  goneAt = Math.max(atMs + 1, Math.min(goneAt, horizonMs + 60_000));
  changes.push({ atMs: goneAt });
  return goneAt;
};
