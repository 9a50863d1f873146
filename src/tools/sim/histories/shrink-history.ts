import type { Container, Pod, PodSpec } from '../../../model/pod/pod.js';
import type { ContainerBehaviour, InstanceBehaviour, NodeBehaviours } from '../world/behaviour.js';
import type { Fault } from '../faults/fault.js';
import type { ClusterChange } from './cluster-plan.js';
import type { History, PodPlan } from './history.js';
import { quietFromMs } from './quiet-from.js';

export interface ShrinkOptions {
  /** Whether it still fails in the same way. */
  readonly fails: (history: History) => boolean;
  /** The most histories that are tried; 600 by default. */
  readonly maxRuns?: number;
}

export interface ShrunkHistory {
  readonly history: History;
  readonly runs: number;
}

/** One way to make a history simpler, tried at each of its places from the last to the first. */
interface Reduction {
  readonly places: (history: History) => number;
  /** Undefined if there is nothing to simplify. */
  readonly at: (history: History, place: number) => History | undefined;
}

/**
 * Returns a history that still fails, without every part that can be left out: pods, changes, faults, containers,
 * probes, behaviours. Within the remaining effort; the same history always shrinks to the same.
 */
export const shrinkHistory = (history: History, { fails, maxRuns = 600 }: ShrinkOptions): ShrunkHistory => {
  let smallest = history;
  let runs = 0;
  const attempt = (candidate: History | undefined): boolean => {
    if (!candidate || runs >= maxRuns) return false;
    runs += 1;
    if (!fails(candidate)) return false;
    smallest = candidate;
    return true;
  };
  for (let hasShrunk = true; hasShrunk && runs < maxRuns;) {
    hasShrunk = false;
    for (const { places, at } of REDUCTIONS)
      for (let place = places(smallest) - 1; place >= 0 && runs < maxRuns; place--)
        if (place < places(smallest) && attempt(at(smallest, place))) hasShrunk = true;
  }
  return { history: smallest, runs };
};

/** Shortens a history after a part was left out: the quiet at its end begins earlier and is as long as before. */
const settled = (history: History): History => {
  const quiet = Math.min(history.quietFromMs, quietFromMs(history));
  return { ...history, quietFromMs: quiet, endMs: quiet + history.endMs - history.quietFromMs };
};

const without = <T>(items: readonly T[], index: number): readonly T[] => items.filter((_, at) => at !== index);
const replaced = <T>(items: readonly T[], index: number, item: T): readonly T[] => items.with(index, item);

const withFaults = (history: History, faults: readonly Fault[]): History => settled({ ...history, faults });
const withPods = (history: History, pods: readonly PodPlan[]): History => settled({ ...history, pods });
const withBehaviours = (history: History, behaviours: NodeBehaviours): History => ({ ...history, behaviours });

/** Only for histories of a cluster. */
const withCluster = (history: History, changes: readonly ClusterChange[]): History =>
  settled({ ...history, ...(history.cluster && { cluster: { ...history.cluster, changes } }) });

const once = (at: (history: History) => History | undefined): Reduction => ({ places: () => 1, at });

/** A place for each item of a list within each pod plan. */
const inPlans = <T>(
  itemsOf: (plan: PodPlan) => readonly T[],
  reduce: (plan: PodPlan, item: T, index: number) => PodPlan | undefined,
): Reduction => {
  const all = ({ pods }: History) =>
    pods.flatMap((plan, at) => itemsOf(plan).map((item, index) => ({ plan, at, item, index })));
  return {
    places: (history) => all(history).length,
    at: (history, place) => {
      const { plan, at, item, index } = all(history)[place]!;
      const reduced = reduce(plan, item, index);
      return reduced && withPods(history, replaced(history.pods, at, reduced));
    },
  };
};

const mapPods = (plan: PodPlan, change: (pod: Pod) => Pod): PodPlan => ({
  ...plan,
  changes: plan.changes.map(({ atMs, pod }) => ({ atMs, ...(pod && { pod: change(pod) }) })),
});

const mapSpec = (plan: PodPlan, change: (spec: PodSpec) => PodSpec): PodPlan =>
  mapPods(plan, (pod) => ({ ...pod, spec: change(pod.spec) }));

const specsOf = ({ changes }: PodPlan): readonly PodSpec[] => changes.flatMap(({ pod }) => (pod ? [pod.spec] : []));

const containerNames = (plan: PodPlan): readonly string[] => [
  ...new Set(
    specsOf(plan).flatMap(({ initContainers = [], containers }) => [...initContainers, ...containers].map(nameOf)),
  ),
];

const nameOf = ({ name }: Container): string => name;

/** The container is removed everywhere, but no pod is left without any. */
const withoutContainer = (plan: PodPlan, name: string): PodPlan | undefined => {
  const rest = (containers: readonly Container[] = []) => containers.filter((container) => container.name !== name);
  if (specsOf(plan).some(({ containers }) => rest(containers).length === 0)) return undefined;
  return mapSpec(plan, ({ initContainers, containers, ...spec }) => ({
    ...spec,
    ...(rest(initContainers).length > 0 && { initContainers: rest(initContainers) }),
    containers: rest(containers),
  }));
};

const CONTAINER_FIELDS = [
  ...['readinessProbe', 'livenessProbe', 'startupProbe', 'lifecycle'],
  ...['restartPolicyRules', 'env'],
] as const;

const containerFields = (plan: PodPlan): readonly (readonly [name: string, field: string])[] => {
  const all = specsOf(plan).flatMap(({ initContainers = [], containers }) => [...initContainers, ...containers]);
  const present = all.flatMap((container) =>
    CONTAINER_FIELDS.filter((field) => field in container).map((field) => `${container.name} ${field}`),
  );
  return [...new Set(present)].map((text) => text.split(' ') as [string, string]);
};

const withoutContainerField = (plan: PodPlan, name: string, field: string): PodPlan => {
  const strip = (container: Container): Container => (container.name === name ? omit(container, field) : container);
  return mapSpec(plan, (spec) => ({
    ...spec,
    ...(spec.initContainers && { initContainers: spec.initContainers.map(strip) }),
    containers: spec.containers.map(strip),
  }));
};

const SPEC_FIELDS = ['activeDeadlineSeconds', 'hostNetwork', 'shareProcessNamespace'] as const;

const omit = <T extends object>(value: T, field: string): T =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field)) as T;

/** A place for each entry of a map within the behaviours. */
const inBehaviours = <T>(
  itemsOf: (behaviours: NodeBehaviours) => readonly T[],
  reduce: (behaviours: NodeBehaviours, item: T) => NodeBehaviours | undefined,
): Reduction => ({
  places: ({ behaviours }) => itemsOf(behaviours).length,
  at: (history, place) => {
    const reduced = reduce(history.behaviours, itemsOf(history.behaviours)[place]!);
    return reduced && withBehaviours(history, reduced);
  },
});

const instances = ({ containers = {} }: NodeBehaviours): readonly (readonly [name: string, index: number])[] =>
  Object.entries(containers).flatMap(([name, behaviour]) => behaviour.map((_, index) => [name, index] as const));

const withContainer = (behaviours: NodeBehaviours, name: string, behaviour: ContainerBehaviour): NodeBehaviours => ({
  ...behaviours,
  containers: { ...behaviours.containers, [name]: behaviour },
});

const instanceFields = (
  behaviours: NodeBehaviours,
): readonly (readonly [name: string, index: number, field: keyof InstanceBehaviour])[] =>
  instances(behaviours).flatMap(([name, index]) =>
    Object.keys(behaviours.containers![name]![index]!).map(
      (field) => [name, index, field as keyof InstanceBehaviour] as const,
    ),
  );

/** The largest first, so that most of a history is removed after a few runs. */
const REDUCTIONS: readonly Reduction[] = [
  once((history) => (history.faults.length > 0 ? withFaults(history, []) : undefined)),
  once((history) => (Object.keys(history.behaviours).length > 0 ? withBehaviours(history, {}) : undefined)),
  {
    places: ({ pods, cluster }) => (pods.length > 1 || cluster ? pods.length : 0),
    at: (history, place) => withPods(history, without(history.pods, place)),
  },
  {
    places: ({ faults }) => faults.length,
    at: (history, place) => withFaults(history, without(history.faults, place)),
  },
  // Actions on a pod that never existed are not carried out.
  {
    places: ({ cluster }) => cluster?.changes.length ?? 0,
    at: (history, place) => withCluster(history, without(history.cluster!.changes, place)),
  },
  once((history) =>
    history.cluster
      ? { ...history, cluster: { ...history.cluster, latencyMs: NO_TIME, cacheLagMs: NO_TIME, keptChanges: 1_000 } }
      : undefined,
  ),
  {
    places: ({ cluster }) => cluster?.changes.length ?? 0,
    at: (history, place) => {
      const simpler = simplerChange(history.cluster!.changes[place]!);
      return simpler && withCluster(history, replaced(history.cluster!.changes, place, simpler));
    },
  },
  inPlans(
    ({ changes }) => changes,
    (plan, _, index) => (plan.changes.length > 1 ? { ...plan, changes: without(plan.changes, index) } : undefined),
  ),
  inPlans(containerNames, withoutContainer),
  inPlans(containerFields, (plan, [name, field]) => withoutContainerField(plan, name, field)),
  inPlans(
    () => SPEC_FIELDS,
    (plan, field) =>
      specsOf(plan).some((spec) => spec[field] !== undefined) ? mapSpec(plan, (spec) => omit(spec, field)) : undefined,
  ),
  inBehaviours(
    ({ containers = {} }) => Object.keys(containers),
    (behaviours, name) => ({ ...behaviours, containers: omit(behaviours.containers!, name) }),
  ),
  inBehaviours(
    ({ images = {} }) => Object.keys(images),
    (behaviours, name) => ({ ...behaviours, images: omit(behaviours.images!, name) }),
  ),
  inBehaviours(
    (behaviours) => Object.keys(behaviours).filter((field) => field !== 'containers'),
    (behaviours, field) => omit(behaviours, field),
  ),
  inBehaviours(instances, (behaviours, [name, index]) => {
    const behaviour = behaviours.containers![name]!;
    return behaviour.length > 1 ? withContainer(behaviours, name, without(behaviour, index)) : undefined;
  }),
  inBehaviours(instanceFields, (behaviours, [name, index, field]) => {
    const behaviour = behaviours.containers![name]!;
    return withContainer(behaviours, name, replaced(behaviour, index, omit(behaviour[index]!, field)));
  }),
  {
    places: ({ faults }) => faults.length,
    at: (history, place) => {
      const shorter = shorterFault(history.faults[place]!);
      return shorter && withFaults(history, replaced(history.faults, place, shorter));
    },
  },
  once((history) =>
    history.node.eventedPleg ? { ...history, node: { ...history.node, eventedPleg: false } } : undefined,
  ),
];

const NO_TIME = { min: 1, max: 1 };

/** A pod with one container less, or with simpler containers. */
const simplerChange = (change: ClusterChange): ClusterChange | undefined => {
  if (change.kind !== 'create') return undefined;
  const { initContainers = [], containers, ...spec } = change.pod.spec;
  const created = (rest: Partial<PodSpec> & Pick<PodSpec, 'containers'>): ClusterChange => ({
    ...change,
    pod: { ...change.pod, spec: { ...spec, ...rest } },
  });
  if (initContainers.length > 0)
    return created({
      containers,
      ...(initContainers.length > 1 && { initContainers: initContainers.slice(0, -1) }),
    });
  if (containers.length > 1) return created({ containers: containers.slice(0, -1) });
  const [only] = containers;
  const field = CONTAINER_FIELDS.find((name) => name in only!);
  return field && created({ containers: [omit(only!, field)] });
};

const shorterFault = (fault: Fault): Fault | undefined => {
  if (!('fromMs' in fault)) return undefined;
  const lengthMs = fault.untilMs - fault.fromMs;
  return lengthMs < 2_000 ? undefined : { ...fault, untilMs: fault.fromMs + Math.floor(lengthMs / 2) };
};
