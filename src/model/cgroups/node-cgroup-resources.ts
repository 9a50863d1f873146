import { cpuShares } from '../cri/linux-resources.js';
import type { Pod } from '../pod.js';
import { podAmountsWithOverhead, type ResourceAmounts } from '../pod-resources.js';
import { qosClass } from '../pod-status/qos.js';
import { formatQuantity, milliValue, quantity, unitValue } from '../quantity.js';
import type { CgroupResources } from './cgroup-resources.js';
import type { CgroupSettings } from './cgroup-settings.js';
import type { QosTier } from './pod-cgroup-name.js';

type Reserved = Pick<CgroupSettings, 'systemReserved' | 'kubeReserved'>;

/**
 * What is left for pods: the capacity without what is reserved, and never less than nothing. What evictions keep free does
 * not count here.
 *
 * Source: pkg/kubelet/cm/node_container_manager_linux.go getNodeAllocatableAbsoluteImpl.
 */
export const allocatableForPods = (
  capacity: ResourceAmounts,
  { systemReserved, kubeReserved }: Reserved,
): ResourceAmounts =>
  new Map(
    [...capacity].map(([name, amount]) => {
      const rest = amount - quantity(systemReserved[name] ?? '0') - quantity(kubeReserved[name] ?? '0');
      return [name, rest > 0n ? rest : 0n] as const;
    }),
  );

/**
 * Why the node cannot reserve what it is told to, in the words of the kubelet; undefined when it can.
 *
 * Source: pkg/kubelet/cm/node_container_manager_linux.go validateNodeAllocatable.
 */
export const reservationProblem = (
  capacity: ResourceAmounts,
  { systemReserved, kubeReserved }: Reserved,
): string | undefined => {
  const problems = [...capacity].flatMap(([name, amount]) => {
    const reserved = quantity(systemReserved[name] ?? '0') + quantity(kubeReserved[name] ?? '0');
    if (reserved <= amount) return [];
    const [is, has] = [reserved, amount].map((value) => formatQuantity(value, 'BinarySI'));
    return [
      `Resource ${JSON.stringify(name)} has a reservation of ${is} but capacity of ${has}. Expected capacity >= reservation.`,
    ];
  });
  return problems.length === 0 ? undefined : `invalid Node Allocatable configuration. ${problems.join(' ')}`;
};

/** What all pods together get: their part of the node if it is enforced, else the whole node. */
export const kubepodsResources = (
  capacity: ResourceAmounts,
  settings: Reserved & Pick<CgroupSettings, 'enforced'>,
): CgroupResources =>
  amountsToResources(settings.enforced.includes('pods') ? allocatableForPods(capacity, settings) : capacity);

/** What a part of the system that is no pod gets: all that it reserves, or only its weight. Source: getCgroupConfigInternal. */
export const reservedResources = (
  reserved: Readonly<Record<string, string>>,
  { compressibleOnly }: { readonly compressibleOnly: boolean },
): CgroupResources => {
  const amounts: ResourceAmounts = new Map(Object.entries(reserved).map(([name, text]) => [name, quantity(text)]));
  const { cpuShares: shares, ...rest } = amountsToResources(amounts);
  return { ...(shares !== undefined && { cpuShares: shares }), ...(!compressibleOnly && rest) };
};

/**
 * What a QoS class gets: burstable pods the weight of all that they ask for, those that ask for nothing the least there is.
 * Huge pages are only limited above and below.
 *
 * Source: pkg/kubelet/cm/qos_container_manager_linux.go setCPUCgroupConfig, setHugePagesUnbounded.
 */
export const tierResources = (
  tier: QosTier,
  active: readonly Pod[],
  hugePageSizes: readonly bigint[],
): CgroupResources => {
  const milliCpu = tier === 'burstable' ? active.reduce((sum, pod) => sum + burstableMilliCpu(pod), 0) : 0;
  return {
    cpuShares: cpuShares(milliCpu),
    hugePages: new Map(hugePageSizes.map((size) => [size, UNBOUNDED])),
  };
};

/** What a burstable pod asks for, 0 of any other. Remembered: when many pods start, each of them has all the others counted. */
const burstableMilliCpu = (pod: Pod): number => {
  const known = requestsOfPods.get(pod);
  if (known !== undefined) return known;
  const isBurstable = qosClass(pod) === 'Burstable';
  const milliCpu = isBurstable ? milliValue(podAmountsWithOverhead(pod, 'requests').get('cpu') ?? 0n) : 0;
  requestsOfPods.set(pod, milliCpu);
  return milliCpu;
};
const requestsOfPods = new WeakMap<Pod, number>();

/** Bytes by bytes per page of the resources called `hugepages-<size>`. Source: HugePageLimits. */
export const hugePagesIn = (amounts: ResourceAmounts): ReadonlyMap<bigint, bigint> =>
  new Map(
    [...amounts]
      .filter(([name]) => name.startsWith(HUGE_PAGES))
      .map(([name, amount]) => [unitValue(quantity(name.slice(HUGE_PAGES.length))), unitValue(amount)]),
  );

const HUGE_PAGES = 'hugepages-';
const UNBOUNDED = 1n << 62n;

const amountsToResources = (amounts: ResourceAmounts): CgroupResources => {
  const [cpu, memory, pids] = ['cpu', 'memory', 'pid'].map((name) => amounts.get(name));
  return {
    ...(cpu !== undefined && { cpuShares: cpuShares(milliValue(cpu)) }),
    ...(memory !== undefined && { memory: unitValue(memory) }),
    ...(pids !== undefined && { pids: unitValue(pids) }),
    hugePages: hugePagesIn(amounts),
  };
};
