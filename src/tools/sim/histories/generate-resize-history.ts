import type { Container, Pod } from '../../../model/pod/pod.js';
import type { AgentFault, CallFault, Fault, PowerFault } from '../faults/fault.js';
import { type SeededRandom, seededRandom } from '../world/seeded-random.js';
import type { ClusterChange } from './cluster-plan.js';
import {
  type AmountsShape,
  type DrawnAmounts,
  drawAmounts,
  drawShape,
  NODE_CPU,
  NODE_MEMORY,
  withDrawnAmounts,
} from './draw-amounts.js';
import { generateClusterHistory } from './generate-cluster-history.js';
import { generateHistory } from './generate-history.js';
import { type History, HISTORY_START_MS, type PlannedPodChange, type PodPlan } from './history.js';
import { quietFromMs } from './quiet-from.js';
import { weighted } from './weighted.js';

const SECOND = 1_000;
/** A resize that waits is tried again after this time, also if nothing has made room; and its pod is synced. Milliseconds. */
const RETRY_MS = 200 * SECOND;

/**
 * Returns the history of a seed in which pods of the API are resized, on a node that has not room for all that they ask for. In most of them the
 * agent ends at bad moments, or the runtime fails. The rest is the history of the same seed of a node, or of a node of a cluster. The same for the
 * same seed, and while the generator stays the same.
 */
export const generateResizeHistory = (seed: number): History => {
  const draw = seededRandom(`resizes ${seed}`);
  const base = draw.chance(0.25) ? generateClusterHistory(seed) : generateHistory(seed);
  const horizonMs = Math.min(base.quietFromMs, 180 * SECOND);
  const pods = base.pods.map((plan, index) =>
    drawPlan(draw.fork(`plan ${index}`), plan, { horizonMs, isInCluster: base.cluster !== undefined }),
  );
  const cluster = base.cluster && {
    ...base.cluster,
    changes: withResizes(draw.fork('cluster'), base.cluster.changes, horizonMs),
  };
  const times = resizeTimes(pods, cluster?.changes ?? []);
  // A resize alone shows its effects best; other faults may allow them.
  const others = draw.chance(0.6) ? [] : base.faults;
  const faults = [...others, ...drawFaults(draw.fork('faults'), times)];
  const allocatable = { cpu: `${NODE_CPU / 1_000}`, memory: `${NODE_MEMORY}Mi`, pods: '110' };
  const node = { ...base.node, facts: { ...base.node.facts, allocatable } };
  const history = { ...base, node, pods, faults, ...(cluster && { cluster }) };
  const quiet = Math.max(base.quietFromMs, quietFromMs(history));
  return { ...history, quietFromMs: quiet, endMs: quiet + Math.max(base.endMs - base.quietFromMs, RETRY_MS) };
};

/** When something is resized. */
const resizeTimes = (pods: readonly PodPlan[], changes: readonly ClusterChange[]): readonly number[] => [
  ...pods.flatMap((plan) =>
    plan.changes.flatMap(({ atMs, pod }) => ((pod?.metadata.generation ?? 1) > 1 ? [atMs] : [])),
  ),
  ...changes.flatMap(({ kind, atMs }) => (kind === 'resize' ? [atMs] : [])),
];

/** Faults at the moment of a resize, or a little later. */
const drawFaults = (draw: SeededRandom, times: readonly number[]): readonly Fault[] => {
  if (times.length === 0) return [];
  const moment = (): number => draw.pick(times) + (draw.chance(0.7) ? draw.integer(0, 60) : draw.integer(0, 5_000));
  const kills = Array.from({ length: draw.pick([0, 0, 1, 1, 2, 3]) }, (): AgentFault => ({
    kind: 'agent-killed',
    atMs: moment(),
    downMs: draw.chance(0.6) ? draw.integer(0, 2_000) : draw.integer(2_000, 40_000),
  }));
  const refusals = draw.chance(0.4) ? [drawCallFault(draw, moment())] : [];
  const losses: readonly PowerFault[] = draw.chance(0.15)
    ? [{ kind: 'power-lost', atMs: moment(), downMs: draw.integer(1, 20) * SECOND, forgetsMs: 0 }]
    : [];
  const disk: readonly Fault[] = draw.chance(0.2)
    ? [{ kind: 'disk-fails', ...period(draw, moment()), rate: 0.5, code: draw.pick(['EIO', 'ENOSPC'] as const) }]
    : [];
  return [...kills, ...refusals, ...losses, ...disk];
};

/** The runtime does not do what it is asked to, or its reply is lost. */
const drawCallFault = (draw: SeededRandom, fromMs: number): CallFault => {
  const rest = { ...period(draw, fromMs), calls: ['UpdateContainerResources'], rate: draw.pick([0.3, 0.6, 1]) };
  return weighted<() => CallFault>(draw, [
    [2, () => ({ kind: 'refused', ...rest, code: 'unknown' })],
    [2, () => ({ kind: 'reply-lost', ...rest, code: 'unavailable' })],
    [1, () => ({ kind: 'late-reply', ...rest, minMs: 1, maxMs: draw.integer(5, 2_000) })],
    [1, () => ({ kind: 'hangs', ...rest, isDone: draw.chance(0.5) })],
  ])();
};

const period = (draw: SeededRandom, fromMs: number) => ({ fromMs, untilMs: fromMs + draw.integer(1, 30) * SECOND });

/** The amounts of a pod over time. */
class AmountsOverTime {
  readonly #shape: AmountsShape;
  readonly #first: DrawnAmounts;
  #now: DrawnAmounts;

  constructor(
    private readonly draw: SeededRandom,
    private readonly containers: readonly string[],
  ) {
    this.#shape = drawShape(draw, containers);
    this.#first = drawAmounts(draw, this.#shape, containers);
    this.#now = this.#first;
  }

  get canBeResized(): boolean {
    return this.#shape.kind !== 'none';
  }

  /** Other amounts from now on, or again those of the beginning. */
  resize(): void {
    this.#now = this.draw.chance(0.2) ? this.#first : drawAmounts(this.draw, this.#shape, this.containers, this.#now);
  }

  given<T extends Pick<Pod, 'spec'>>(pod: T): T {
    return { ...pod, spec: withDrawnAmounts(pod.spec, this.#shape, { now: this.#now, first: this.#first }) };
  }
}

const namesIn = (pods: readonly Pick<Pod, 'spec'>[]): readonly string[] => [
  ...new Set(pods.flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name))),
];

/** Moments in bursts, since the newest of several resizes counts. */
const drawTimes = (draw: SeededRandom, fromMs: number, untilMs: number): readonly number[] => {
  if (untilMs <= fromMs) return [];
  return Array.from({ length: draw.integer(1, 3) }, () => draw.integer(fromMs, untilMs)).flatMap((atMs) =>
    Array.from({ length: draw.pick([1, 1, 1, 2, 4]) }, (_, index) => atMs + index * draw.integer(1, 400)),
  );
};

/** Users resize pods that they have created before. A resize of a pod that is gone does nothing. */
const withResizes = (
  draw: SeededRandom,
  changes: readonly ClusterChange[],
  horizonMs: number,
): readonly ClusterChange[] => {
  const resizes: ClusterChange[] = [];
  const given = changes.map((change, index): ClusterChange => {
    if (change.kind !== 'create') return change;
    const { name } = change.pod.metadata;
    const own = draw.fork(`${name} ${index}`);
    const amounts = new AmountsOverTime(own, namesIn([change.pod]));
    const created = { ...change, pod: amounts.given(change.pod) };
    const next = changes.find((later, at) => at > index && later.kind === 'create' && later.pod.metadata.name === name);
    const untilMs = Math.min(next?.atMs ?? horizonMs, horizonMs);
    for (const atMs of amounts.canBeResized ? drawTimes(own, change.atMs + 1, untilMs) : []) {
      amounts.resize();
      resizes.push({ kind: 'resize', atMs, pod: name, patch: resizePatch(amounts.given(change.pod)) });
    }
    return created;
  });
  // Changes of one instant stay in their order: a controller creates a pod after it has deleted the one before.
  return [...given, ...resizes].toSorted((one, other) => one.atMs - other.atMs);
};

/** Only the amounts of containers that can be resized. */
const resizePatch = ({ spec }: Pick<Pod, 'spec'>): object => {
  const amountsOf = ({ name, resources }: Container) => ({ name, resources });
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return {
    spec: {
      ...(spec.resources && { resources: spec.resources }),
      ...(sidecars.length > 0 && { initContainers: sidecars.map(amountsOf) }),
      containers: spec.containers.map(amountsOf),
    },
  };
};

/** Most pods come from the API, since a pod of a manifest is another one when it changes. */
const drawPlan = (
  draw: SeededRandom,
  plan: PodPlan,
  { horizonMs, isInCluster }: { readonly horizonMs: number; readonly isInCluster: boolean },
): PodPlan => {
  const source = isInCluster || draw.chance(0.15) ? plan.source : 'api';
  const versions = plan.changes.flatMap(({ pod }) => (pod ? [pod] : []));
  const amounts = new AmountsOverTime(draw, namesIn(versions));
  const beginsMs = plan.changes[0]?.atMs ?? 0;
  const times = source === 'api' && amounts.canBeResized ? drawTimes(draw, beginsMs, horizonMs) : [];
  const moments: readonly (PlannedPodChange & { readonly isResize?: boolean })[] = [
    ...plan.changes,
    ...times.map((atMs) => ({ atMs, isResize: true })),
  ].toSorted((one, other) => one.atMs - other.atMs);
  const changes: PlannedPodChange[] = [];
  let last: Pod | undefined;
  let generation = 1;
  let created = { atMs: 0, uid: '' };
  for (const moment of moments) {
    const { atMs } = moment;
    if (moment.isResize) {
      if (!last || last.metadata.deletionTimestamp !== undefined) continue;
      amounts.resize();
      generation += 1;
    } else {
      if (moment.pod && moment.pod.metadata.uid !== last?.metadata.uid)
        created = { atMs, uid: `${moment.pod.metadata.uid}-${atMs}` };
      last = moment.pod;
    }
    const version = { generation, ...created };
    changes.push({
      atMs,
      ...(last && { pod: source === 'api' ? asFromApi(amounts.given(last), version) : amounts.given(last) }),
    });
  }
  return { ...plan, source, changes };
};

/** An API server never uses a UID again, and its pods have versions and the time of their creation. */
const asFromApi = (
  pod: Pod,
  { generation, uid, atMs }: { readonly generation: number; readonly uid: string; readonly atMs: number },
): Pod => {
  const creationTimestamp = new Date(HISTORY_START_MS + atMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return { ...pod, metadata: { ...pod.metadata, uid, generation, creationTimestamp } };
};
