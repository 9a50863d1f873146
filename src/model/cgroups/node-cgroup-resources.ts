import { cpuShares } from '../cri/linux-resources.js';
import type { Pod } from '../pod/pod.js';
import { podAmountsWithOverhead, type ResourceAmounts } from '../resources/pod-resources.js';
import { qosClass } from '../pod-status/qos.js';
import { formatQuantity, milliValue, quantity, unitValue } from '../resources/quantity.js';
import type { CgroupResources } from './cgroup-resources.js';
import type { CgroupSettings } from './cgroup-settings.js';
import type { QosTier } from './pod-cgroup-name.js';

type Reserved = Pick<CgroupSettings, 'systemReserved' | 'kubeReserved'>;

/**
 * The resources that are left for pods: the capacity without reservations, at least zero. Eviction thresholds are not
 * subtracted here.
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
 * Returns the reason why the node cannot reserve the configured resources, in the kubelet's text; undefined if it can.
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

/** The resources of all pods together: the allocatable part of the node if it is enforced, else the whole node. */
export const kubepodsResources = (
  capacity: ResourceAmounts,
  settings: Reserved & Pick<CgroupSettings, 'enforced'>,
): CgroupResources =>
  amountsToResources(settings.enforced.includes('pods') ? allocatableForPods(capacity, settings) : capacity);

/**
 * The resources of a reserved part of the system: all that it reserves, or only its weight. Its memory can be kept for it. Source:
 * getCgroupConfigInternal.
 */
export const reservedResources = (
  reserved: Readonly<Record<string, string>>,
  { compressibleOnly, keepsMemory = false }: { readonly compressibleOnly: boolean; readonly keepsMemory?: boolean },
): CgroupResources => {
  const amounts: ResourceAmounts = new Map(Object.entries(reserved).map(([name, text]) => [name, quantity(text)]));
  const { cpuShares: shares, ...rest } = amountsToResources(amounts);
  return {
    ...(shares !== undefined && { cpuShares: shares }),
    ...(!compressibleOnly && rest),
    ...(!compressibleOnly && keepsMemory && rest.memory !== undefined && { memoryMin: rest.memory }),
  };
};

/**
 * The resources of a QoS class: for burstable pods the weight of all their requests, for best-effort pods the minimum.
 * Huge pages are limited only above and below this level.
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

/** The requests of a burstable pod, 0 of any other. Cached, since every starting pod sums those of all others. */
const burstableMilliCpu = (pod: Pod): number => {
  const known = requestsOfPods.get(pod);
  if (known !== undefined) return known;
  const isBurstable = qosClass(pod) === 'Burstable';
  const milliCpu = isBurstable ? milliValue(podAmountsWithOverhead(pod, 'requests').get('cpu') ?? 0n) : 0;
  requestsOfPods.set(pod, milliCpu);
  return milliCpu;
};
const requestsOfPods = new WeakMap<Pod, number>();

/** Returns bytes by bytes per page of the resources `hugepages-<size>`. Source: HugePageLimits. */
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
