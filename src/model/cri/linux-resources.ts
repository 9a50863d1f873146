import type { DeepPartial, LinuxContainerResources } from '../../generated/runtime/v1/api.js';
import { containerMemory, memoryFiles, NO_MEMORY_FILES } from '../cgroups/memory-qos.js';
import type { NodeFacts } from '../node/node-facts.js';
import { type Container, isCriticalPod, isSidecar, type Pod } from '../pod/pod.js';
import { amountsOf, podAmounts, type ResourceAmounts } from '../resources/pod-resources.js';
import { qosClass } from '../pod-status/qos.js';
import { milliValue, unitValue } from '../resources/quantity.js';
import { swapShare } from './swap-share.js';

const [MIN_SHARES, MAX_SHARES] = [2, 262_144];
const MIN_QUOTA_MICROS = 1_000;

/** Source: pkg/kubelet/cm/helpers_linux.go MilliCPUToShares. */
export const cpuShares = (milliCpu: number): number =>
  milliCpu === 0 ? MIN_SHARES : Math.min(Math.max(Math.trunc((milliCpu * 1024) / 1000), MIN_SHARES), MAX_SHARES);

/** Microseconds per period; 0 for no limit. Source: pkg/kubelet/cm/helpers_linux.go MilliCPUToQuota. */
export const cpuQuota = (milliCpu: number, periodMicros: number): number =>
  milliCpu === 0 ? 0 : Math.max(MIN_QUOTA_MICROS, Math.trunc((milliCpu * periodMicros) / 1000));

/**
 * Returns amounts as settings of a container's or sandbox's cgroups.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go calculateLinuxResources.
 */
export const toLinuxResources = (
  { requests, limits }: { readonly requests: ResourceAmounts; readonly limits: ResourceAmounts },
  { cpuCfsQuota, cpuCfsQuotaPeriodMicros }: Pick<NodeFacts, 'cpuCfsQuota' | 'cpuCfsQuotaPeriodMicros'>,
): DeepPartial<LinuxContainerResources> => ({
  cpuShares: BigInt(cpuShares(milliValue(requests.get('cpu') ?? limits.get('cpu') ?? 0n))),
  ...(cpuCfsQuota && {
    cpuPeriod: BigInt(cpuCfsQuotaPeriodMicros),
    cpuQuota: BigInt(cpuQuota(milliValue(limits.get('cpu') ?? 0n), cpuCfsQuotaPeriodMicros)),
  }),
  memoryLimitInBytes: unitValue(limits.get('memory') ?? 0n),
});

/**
 * Returns the settings of the cgroup of a container; `isUpdate` for one that exists, which may have settings that are not wanted any more.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go generateLinuxContainerResources.
 */
export const containerLinuxResources = (
  pod: Pod,
  container: Container,
  node: NodeFacts,
  { isUpdate = false }: { readonly isUpdate?: boolean } = {},
): DeepPartial<LinuxContainerResources> => {
  const limits = limitsWithin(pod, container);
  const unified = {
    ...(node.killsWholeContainerOnOom && { 'memory.oom.group': '1' }),
    ...(node.limitsSwap && { 'memory.swap.max': String(swapShare(pod, container, node) ?? 0n) }),
    ...(node.memoryQos && isUpdate && NO_MEMORY_FILES),
    ...(node.memoryQos && memoryFiles(containerMemory(pod, container, node.memoryQos))),
  };
  return {
    ...toLinuxResources({ requests: amountsOf(container, 'requests'), limits }, node),
    oomScoreAdj: BigInt(oomScoreAdj(pod, container, node.memoryCapacity)),
    hugepageLimits: node.hugePageSizes.map((size) => ({
      pageSize: pageSizeName(size),
      limit: unitValue(limits.get(`hugepages-${pageSizeQuantity(size)}`) ?? 0n),
    })),
    ...(Object.keys(unified).length > 0 && { unified }),
  };
};

/**
 * Returns the limits of a container; for a resource without one, the limit of the pod. A limit of 0 CPU or memory is no
 * limit.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go getCPULimit, getMemoryLimit,
 * GetHugepageLimitsFromResources.
 */
const limitsWithin = (pod: Pod, container: Container): ResourceAmounts => {
  const isNone = ([name, amount]: readonly [string, bigint]) => amount === 0n && (name === 'cpu' || name === 'memory');
  const own = [...amountsOf(container, 'limits')].filter((limit) => !isNone(limit));
  return new Map([...amountsOf({ resources: pod.spec.resources }, 'limits'), ...own]);
};

/**
 * Returns the OOM score adjustment of a container: the smaller its share of the requested memory, the higher. Source:
 * pkg/kubelet/qos/policy.go GetContainerOOMScoreAdjust.
 */
export const oomScoreAdj = (pod: Pod, container: Container, memoryCapacity: bigint): number => {
  if (isCriticalPod(pod) && pod.spec.priorityClassName === 'system-node-critical') return GUARANTEED;
  switch (qosClass(pod)) {
    case 'Guaranteed':
      return GUARANTEED;
    case 'BestEffort':
      return BEST_EFFORT;
    case 'Burstable': {
      const extra = podExtraMemory(pod);
      const adjust = (request: bigint) => 1000 - Number((1000n * (request + extra)) / memoryCapacity);
      const own = adjust(memoryRequest(container));
      const smallest = pod.spec.containers.map(memoryRequest).reduce((a, b) => (a < b ? a : b));
      // A sidecar must not be killed before the containers that it serves.
      const adjusted = isSidecar(container) ? Math.min(own, adjust(smallest)) : own;
      return Math.min(Math.max(adjusted, 1000 + GUARANTEED), BEST_EFFORT - 1);
    }
  }
};

const [GUARANTEED, BEST_EFFORT] = [-997, 1000];

const memoryRequest = (container: Container): bigint => unitValue(amountsOf(container, 'requests').get('memory') ?? 0n);

/** The share of each container in the pod's requests beyond those of its containers. */
const podExtraMemory = (pod: Pod): bigint => {
  const ofPod = pod.spec.resources?.requests?.memory;
  if (ofPod === undefined) return 0n;
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const ofContainers = unitValue(
    podAmounts({ ...pod, spec: { ...pod.spec, resources: undefined } }, 'requests').get('memory') ?? 0n,
  );
  const extra = unitValue(podAmounts(pod, 'requests').get('memory') ?? 0n) - ofContainers;
  return extra > 0n ? extra / BigInt(containers.length) : 0n;
};

const KIBI = 1024n;
const unitsOf = (size: bigint): readonly [bigint, string] => {
  if (size >= KIBI ** 3n) return [size / KIBI ** 3n, 'G'];
  return size >= KIBI ** 2n ? [size / KIBI ** 2n, 'M'] : [size / KIBI, 'K'];
};

/** Returns `2MB`, the form in names of cgroup files. */
export const pageSizeName = (size: bigint): string => `${unitsOf(size).join('')}B`;

/** Returns `2Mi`, the form in names of resources. */
const pageSizeQuantity = (size: bigint): string => `${unitsOf(size).join('')}i`;
