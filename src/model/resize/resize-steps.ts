import type { CgroupReading, CgroupResources } from '../cgroups/cgroup-resources.js';
import { NO_LIMIT } from '../cgroups/memory-qos.js';
import { cpuWeight } from '../cgroups/cpu-weight.js';
import type { Amounts } from '../pod/allocated-resources.js';
import type { Container } from '../pod/pod.js';
import type { ResourceList } from '../resources/resource-list.js';
import { parseQuantity, unitValue } from '../resources/quantity.js';
import { type ContainerUpdate, differs, type Resizable } from './actuated.js';

/** One write of a resize. */
export type ResizeStep =
  | { readonly kind: 'pod'; readonly resource: Resizable; readonly resources: CgroupResources }
  | { readonly kind: 'container'; readonly id: string; readonly container: Container; readonly amounts: Amounts };

export interface ResizeInput {
  /** The cgroup of the pod: what it should have, and what it has; undefined if pods have no cgroups. */
  readonly cgroup: { readonly desired: CgroupResources; readonly has: CgroupReading } | undefined;
  readonly updates: readonly ContainerUpdate[];
  /** Bytes: the kernel rounds amounts of memory down to whole pages. */
  readonly pageSize: bigint;
}

/**
 * Returns the writes of a resize in their order: memory before CPU; the pod grows before its containers and shrinks after them; containers
 * that shrink go first. So no container ever has more than its pod.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go doPodResizeAction, updatePodContainerResources
 */
export const resizeSteps = ({ cgroup, updates, pageSize }: ResizeInput): readonly ResizeStep[] =>
  RESIZABLE_IN_ORDER.flatMap((resource) => {
    const ofPod = cgroup ? podWrites(resource, cgroup.desired, cgroup.has, pageSize) : [];
    const pod = (grows: boolean): readonly ResizeStep[] =>
      ofPod.filter((write) => write.grows === grows).map(({ resources }) => ({ kind: 'pod', resource, resources }));
    return [...pod(true), ...containerSteps(resource, updates), ...pod(false).toReversed()];
  });

const RESIZABLE_IN_ORDER: readonly Resizable[] = ['memory', 'cpu'];

/** A limit that is not wanted any more stays. No limit is less than any: the pod gets one before its containers. */
const podWrites = (resource: Resizable, desired: CgroupResources, has: CgroupReading, pageSize: bigint) => {
  const write = <T extends number | bigint>(
    wanted: T | undefined,
    present: T,
    resources: CgroupResources,
  ): readonly { readonly grows: boolean; readonly resources: CgroupResources }[] =>
    wanted === undefined || wanted === present ? [] : [{ grows: wanted > present, resources }];
  const { memory, memoryMin, memoryLow, memoryHigh, cpuQuota, cpuPeriod, cpuShares } = desired;
  const inPages = (bytes: bigint | undefined) =>
    bytes === undefined || bytes === NO_LIMIT ? bytes : bytes - (bytes % pageSize);
  return resource === 'memory'
    ? [
        ...write(inPages(memory || undefined), has.memory ?? NO_LIMIT, { memory }),
        ...write(inPages(memoryMin), has.memoryMin ?? 0n, { memoryMin }),
        ...write(inPages(memoryLow), has.memoryLow ?? 0n, { memoryLow }),
        ...write(inPages(memoryHigh), has.memoryHigh ?? NO_LIMIT, { memoryHigh }),
      ]
    : [
        ...write(cpuQuota || undefined, has.cpuQuota, { cpuQuota, cpuPeriod }),
        ...write(weightIn(has, cpuShares), has.cpuWeight ?? has.cpuShares ?? 0, { cpuShares }),
      ];
};

/** Weights are compared in the scale of the kernel: several shares have one weight under cgroup v2. */
const weightIn = ({ cpuWeight: weight }: CgroupReading, shares: number | undefined): number | undefined =>
  shares === undefined || weight === undefined ? shares : cpuWeight(shares);

const containerSteps = (resource: Resizable, updates: readonly ContainerUpdate[]): readonly ResizeStep[] => {
  const changed = updates.filter(({ container, has }) => !has || differs(container.resources ?? {}, has, resource));
  const shrinking = changed.filter((update) => shrinks(resource, update)).toReversed();
  return [...shrinking, ...changed.filter((update) => !shrinking.includes(update))].map(({ id, container, has }) => ({
    kind: 'container',
    ...{
      id,
      container,
      amounts: resource === 'memory' ? withMemoryOf(container.resources, has) : amountsOf(container),
    },
  }));
};

/** The limits decide, and the requests if these are equal. */
const shrinks = (resource: Resizable, { container, has }: ContainerUpdate): boolean => {
  const [limit, request] = (['limits', 'requests'] as const).map(
    (kind) => amount(container.resources?.[kind]?.[resource]) - amount(has?.[kind]?.[resource]),
  ) as [bigint, bigint];
  return limit !== 0n ? limit < 0n : request < 0n;
};

const amount = (text: string | undefined): bigint => (text === undefined ? 0n : (parseQuantity(text) ?? 0n));

const amountsOf = ({ resources: { requests, limits } = {} }: Container): Amounts => ({
  ...(requests && { requests }),
  ...(limits && { limits }),
});

/** The memory of the spec, and the CPU of the instance. */
const withMemoryOf = (wanted: Amounts | undefined, has: Amounts | undefined): Amounts => {
  const mixed = (kind: keyof Amounts): ResourceList => {
    const others = Object.entries(wanted?.[kind] ?? {}).filter(([name]) => name !== 'cpu');
    const cpu = (has ?? wanted)?.[kind]?.cpu;
    return Object.fromEntries(cpu === undefined ? others : [...others, ['cpu', cpu]]);
  };
  return { requests: mixed('requests'), limits: mixed('limits') };
};

/** The memory that a pod and its instances use, in bytes. */
export interface MemoryUsage {
  /** Undefined if it cannot be measured. */
  readonly pod: bigint | undefined;
  readonly container: (id: string) => bigint | undefined;
}

/** The instances whose limit of memory is lowered, or which get one. */
export const withLessMemory = (updates: readonly ContainerUpdate[]): readonly ContainerUpdate[] =>
  updates.filter(({ container, has }) => {
    const [wanted, present] = [memoryLimit(container.resources), memoryLimit(has)];
    return has !== undefined && wanted !== undefined && (present === undefined || wanted < present);
  });

/**
 * Returns why a resize cannot begin: the pod or a container would get less memory than it uses. Undefined if it can.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go validateMemoryResizeAction
 */
export const memoryProblem = ({ cgroup, updates }: ResizeInput, usage: MemoryUsage): string | undefined => {
  const problems: string[] = [];
  const wanted = cgroup?.desired.memory;
  const has = cgroup?.has.memory;
  if (wanted && has !== undefined && wanted < has) {
    if (usage.pod === undefined) problems.push('missing pod memory usage');
    else if (usage.pod >= wanted)
      problems.push(`attempting to set pod memory limit (${wanted}) below current usage (${usage.pod})`);
  }
  for (const { id, container } of withLessMemory(updates)) {
    const [limit, used] = [memoryLimit(container.resources), usage.container(id)];
    if (limit === undefined || used === undefined || used < limit) continue;
    problems.push(
      `attempting to set container "${container.name}" memory limit (${limit}) below current usage (${used})`,
    );
  }
  if (problems.length === 0) return undefined;
  return `cannot decrease memory limits: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`;
};

const memoryLimit = (amounts: Amounts | undefined): bigint | undefined => {
  const text = amounts?.limits?.memory;
  return text === undefined ? undefined : unitValue(parseQuantity(text) ?? 0n);
};
