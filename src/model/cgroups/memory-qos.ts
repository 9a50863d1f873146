import type { Container, Pod } from '../pod/pod.js';
import { qosClass } from '../pod-status/qos.js';
import { amountsOf, podAmountsWithOverhead, type ResourceAmounts } from '../resources/pod-resources.js';
import { unitValue } from '../resources/quantity.js';
import type { CgroupResources } from './cgroup-resources.js';

/** How the memory of pods is throttled and kept, with the means of cgroup v2. */
export interface MemoryQos {
  /** When the kernel slows a container down; never if absent. */
  readonly throttling?: MemoryThrottling;
  /** What pods request stays theirs when memory is short: always for Guaranteed pods, as long as possible for Burstable ones. */
  readonly keepsRequests: boolean;
}

export interface MemoryThrottling {
  /** Where between request and limit it begins, above 0 and at most 1. */
  readonly factor: number;
  /** The limit of a container without one, in bytes: the memory of the node without the reservations. */
  readonly nodeMemory: bigint;
  /** Bytes. */
  readonly pageSize: bigint;
}

/** What the configuration says of it. */
export interface MemoryQosSettings {
  readonly throttlingFactor?: number | undefined;
  readonly keepsRequests: boolean;
  /** Bytes of the machine that are not for pods. */
  readonly reserved: bigint;
}

/** Applies the settings to a machine with this memory in bytes; without any, nothing is throttled or kept. */
export const memoryQosOf = (
  { throttlingFactor: factor, keepsRequests, reserved }: MemoryQosSettings = { keepsRequests: false, reserved: 0n },
  { memory, pageSize }: { readonly memory: bigint; readonly pageSize: bigint },
): MemoryQos => {
  const nodeMemory = memory > reserved ? memory - reserved : 0n;
  return { keepsRequests, ...(factor !== undefined && { throttling: { factor, nodeMemory, pageSize } }) };
};

/** Settings of memory in bytes; an absent one is not wanted. */
export interface MemorySettings {
  readonly min?: bigint;
  readonly low?: bigint;
  readonly high?: bigint;
}

/**
 * The memory settings of a container.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go generateLinuxContainerResources
 */
export const containerMemory = (pod: Pod, container: Container, qos: MemoryQos): MemorySettings => {
  const [request, limit] = [bytes(amountsOf(container, 'requests')), bytes(amountsOf(container, 'limits'))];
  return { ...kept(pod, request, qos), ...throttled(request, limit, qos) };
};

/**
 * The memory settings of the cgroup of a pod, each of them, so that a resize takes back what is not wanted any more; none if nothing is
 * throttled or kept. A pod is throttled as a whole only if it has amounts as a whole.
 *
 * Source: pkg/kubelet/cm/helpers_linux.go ResourceConfigForPod
 */
export const podMemoryResources = (pod: Pod, qos: MemoryQos | undefined): CgroupResources => {
  if (!qos?.keepsRequests && !qos?.throttling) return {};
  const request = bytes(podAmountsWithOverhead(pod, 'requests'));
  const { requests, limits } = pod.spec.resources ?? {};
  const isAsWhole = requests?.memory !== undefined || limits?.memory !== undefined;
  const { min = 0n, low = 0n } = kept(pod, request, qos);
  const { high = NO_LIMIT } = isAsWhole ? throttled(request, bytes(podAmountsWithOverhead(pod, 'limits')), qos) : {};
  return { memoryMin: min, memoryLow: low, memoryHigh: high };
};

/**
 * The memory that is kept for all pods together, and for the Burstable ones: cgroups pass to those below only what they were given.
 *
 * Source: pkg/kubelet/cm/qos_container_manager_linux.go setMemoryQoS
 */
export const keptForPods = (
  active: readonly Pod[],
): { readonly all: CgroupResources; readonly burstable: CgroupResources } => {
  const sum = (...classes: readonly string[]): bigint =>
    active.filter((pod) => classes.includes(qosClass(pod))).reduce((total, pod) => total + requestOf(pod), 0n);
  const low = sum('Burstable');
  return { all: { memoryMin: sum('Guaranteed') + low, memoryLow: low }, burstable: { memoryLow: low } };
};

/** Cached, since every starting pod sums those of all others. */
const requestOf = (pod: Pod): bigint => {
  const known = requestsOfPods.get(pod);
  if (known !== undefined) return known;
  const request = bytes(podAmountsWithOverhead(pod, 'requests'));
  requestsOfPods.set(pod, request);
  return request;
};
const requestsOfPods = new WeakMap<Pod, bigint>();

/** The value of `memoryHigh` for none. */
export const NO_LIMIT = -1n;

/** The settings as files of cgroup v2, in which the runtime is asked for them. */
export const memoryFiles = ({ min, low, high }: MemorySettings): Readonly<Record<string, string>> => ({
  ...(min !== undefined && { 'memory.min': String(min) }),
  ...(low !== undefined && { 'memory.low': String(low) }),
  ...(high !== undefined && { 'memory.high': String(high) }),
});

/** The files of an instance without settings, for one that may have some from before. */
export const NO_MEMORY_FILES: Readonly<Record<string, string>> = {
  'memory.min': '0',
  'memory.low': '0',
  'memory.high': 'max',
};

const kept = (pod: Pod, request: bigint, qos: MemoryQos): MemorySettings => {
  if (!qos.keepsRequests || request === 0n) return {};
  return qosClass(pod) === 'Guaranteed' ? { min: request } : { low: request };
};

/** Whole pages between request and limit. */
const throttled = (request: bigint, limit: bigint, { throttling }: MemoryQos): MemorySettings => {
  if (!throttling || (request === limit && limit > 0n)) return {};
  const { factor, nodeMemory, pageSize } = throttling;
  const end = Number(limit > 0n ? limit : nodeMemory);
  const begin = Number(request) + (end - Number(request)) * factor;
  const high = BigInt(Math.floor(begin / Number(pageSize))) * pageSize;
  return high > request ? { high } : {};
};

const bytes = (amounts: ResourceAmounts): bigint => unitValue(amounts.get('memory') ?? 0n);
