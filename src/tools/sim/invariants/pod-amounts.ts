import type { Amounts } from '../../../model/pod/allocated-resources.js';
import type { Container, Pod } from '../../../model/pod/pod.js';
import type { SimulatedResources } from '../world/world-event.js';

/**
 * The arithmetic of CPU and memory, implemented a second time: an invariant that used the tested code would repeat its mistakes.
 */
export interface Requests {
  /** Thousandths of a CPU. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** The amounts of a pod: those of its containers by their names, and those of the pod as a whole. */
export interface PodAmountsTruth {
  readonly containers: Readonly<Record<string, Amounts | undefined>>;
  readonly pod?: Amounts | undefined;
}

const FACTORS: Readonly<Record<string, number>> = {
  ...{ '': 1, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 },
};

/** The number of a quantity; undefined without one. */
const numberOf = (text: string | undefined): number | undefined => {
  const [, digits, suffix = ''] = /^([\d.]+(?:e\d+)?)([a-zA-Z]*)$/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits) * (FACTORS[suffix] ?? NaN);
};
const milliOf = (text: string | undefined): number => Math.ceil((numberOf(text) ?? 0) * 1000 - 1e-6);
const bytesOf = (text: string | undefined): number => Math.ceil(numberOf(text) ?? 0);

export const sumOf = (all: readonly Requests[]): Requests => ({
  cpu: all.reduce((sum, { cpu }) => sum + cpu, 0),
  memory: all.reduce((sum, { memory }) => sum + memory, 0),
});

/** By resource the smallest or the largest. */
export const extremeOf = (pick: (...numbers: number[]) => number, all: readonly Requests[]): Requests => ({
  cpu: pick(...all.map(({ cpu }) => cpu)),
  memory: pick(...all.map(({ memory }) => memory)),
});

export const amountsOfSpec = ({ spec }: Pod): PodAmountsTruth => ({
  containers: Object.fromEntries(
    [...(spec.initContainers ?? []), ...spec.containers].map(({ name, resources }) => [name, resources]),
  ),
  pod: spec.resources,
});

/** What the node has for a pod with these amounts: the most that its containers request at a time, or what the pod itself requests. */
export const requestsOf = ({ spec }: Pod, { containers, pod }: PodAmountsTruth): Requests => {
  const own = ({ name }: Container): Requests => ({
    cpu: milliOf(containers[name]?.requests?.['cpu']),
    memory: bytesOf(containers[name]?.requests?.['memory']),
  });
  const sidecars: Requests[] = [];
  const moments: Requests[] = [];
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') sidecars.push(own(container));
    else moments.push(sumOf([...sidecars, own(container)]));
  }
  const { cpu, memory } = extremeOf(Math.max, [...moments, sumOf([...sidecars, ...spec.containers.map(own)])]);
  const { cpu: ofCpu, memory: ofMemory } = pod?.requests ?? {};
  return { cpu: ofCpu ? milliOf(ofCpu) : cpu, memory: ofMemory ? bytesOf(ofMemory) : memory };
};

/** What a container should have in the runtime. A limit of the pod counts where the container has none. */
export const runtimeAmounts = ({ containers, pod }: PodAmountsTruth, container: string): SimulatedResources => {
  const { requests = {}, limits = {} } = containers[container] ?? {};
  const cpuLimit = limits['cpu'] ?? pod?.limits?.['cpu'];
  const milli = milliOf(requests['cpu'] ?? cpuLimit);
  return {
    cpuShares: Math.min(Math.max(Math.floor((milli * 1024) / 1000), 2), 262_144),
    cpuQuota: cpuLimit === undefined ? 0 : Math.max(milliOf(cpuLimit) * 100, 1_000),
    memoryBytes: bytesOf(limits['memory'] ?? pod?.limits?.['memory']),
  };
};

/** By resource the amounts that the runtime has of it. */
export const VISIBLE = { cpu: ['cpuShares', 'cpuQuota'], memory: ['memoryBytes'] } as const;

export const isSameInRuntime = (
  one: SimulatedResources,
  other: SimulatedResources,
  resource: keyof typeof VISIBLE,
): boolean => VISIBLE[resource].every((field) => one[field] === other[field]);
