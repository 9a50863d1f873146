import { allocatableForPods } from '../cgroups/node-cgroup-resources.js';
import type { ResourceAmounts } from '../resources/pod-resources.js';
import { formatQuantity, type Nanos, quantity, unitValue } from '../resources/quantity.js';
import type { MachineFacts } from './machine-facts.js';
import type { ResourceList } from '../resources/resource-list.js';
import type { NodeObjectSettings } from './node-settings.js';

const STORAGE = 'ephemeral-storage';
const NANOS = 1_000_000_000n;
export const HUGE_PAGES = 'hugepages-';

export const isHugePages = (resource: string): boolean => resource.startsWith(HUGE_PAGES);

/** Returns the resource of huge pages of this size: `hugepages-2Mi`. */
export const hugePagesName = (pageBytes: bigint): string => `${HUGE_PAGES}${bytesText(pageBytes)}`;

/**
 * Whether a resource is not one of Kubernetes itself: devices, and resources that administrators add to Nodes. Source:
 * pkg/apis/core/v1/helper/helpers.go
 */
export const isExtendedResource = (resource: string): boolean =>
  resource.includes('/') && !resource.includes('kubernetes.io/') && !resource.startsWith('requests.');

/**
 * The machine's resources that pods may request.
 *
 * Source: pkg/kubelet/cadvisor/util.go CapacityFromMachineInfo, pkg/kubelet/nodestatus/setters.go MachineInfo
 */
export const machineCapacity = (
  { cpus, memoryBytes, hugePages, storageBytes }: MachineFacts,
  { maxPods, podsPerCore, localStorage }: Pick<NodeObjectSettings, 'maxPods' | 'podsPerCore' | 'localStorage'>,
): ResourceList => ({
  cpu: String(cpus),
  memory: bytesText(memoryBytes),
  ...Object.fromEntries(
    hugePages.map(({ pageBytes, count }) => [hugePagesName(pageBytes), bytesText(pageBytes * count)]),
  ),
  pods: String(podsPerCore > 0 ? Math.min(cpus * podsPerCore, maxPods) : maxPods),
  ...(localStorage && storageBytes !== undefined && { [STORAGE]: formatQuantity(storageBytes * NANOS, 'DecimalSI') }),
});

type Reservations = Pick<NodeObjectSettings, 'systemReserved' | 'kubeReserved' | 'evictionHard'>;

/**
 * Returns the part of a capacity that is available to pods: the capacity without reservations and eviction thresholds,
 * at least zero. Huge pages are subtracted from the memory.
 *
 * Source: pkg/kubelet/nodestatus/setters.go MachineInfo, pkg/kubelet/cm/node_container_manager_linux.go
 * GetNodeAllocatableReservation
 */
export const allocatableOf = (capacity: ResourceList, reservations: Reservations): ResourceList => {
  const amounts: ResourceAmounts = new Map(Object.entries(capacity).map(([name, text]) => [name, quantity(text)]));
  const kept = keptFree(amounts, reservations.evictionHard);
  const hugePages = [...amounts].reduce((sum, [name, amount]) => (isHugePages(name) ? sum + amount : sum), 0n);
  return Object.fromEntries(
    [...allocatableForPods(amounts, reservations)].map(([name, amount]) => {
      const rest = atLeastNothing(amount - (kept.get(name) ?? 0n));
      const left = name === 'memory' ? atLeastNothing(rest - hugePages) : rest;
      return [name, left === amounts.get(name) ? capacity[name]! : formatQuantity(left, formatOf(name))];
    }),
  );
};

/** Source: pkg/kubelet/cm/node_container_manager_linux.go hardEvictionReservation */
const keptFree = (capacity: ResourceAmounts, evictionHard: Reservations['evictionHard']): ResourceAmounts =>
  new Map(
    (
      [
        ['memory', evictionHard['memory.available']],
        [STORAGE, evictionHard['nodefs.available']],
      ] as const
    ).flatMap(([resource, threshold]) => {
      const whole = capacity.get(resource);
      return whole === undefined || threshold === undefined ? [] : [[resource, thresholdOf(threshold, whole)] as const];
    }),
  );

/**
 * `0%` and `100%` disable a threshold. Shares have single precision, as in the kubelet. Source:
 * pkg/kubelet/eviction/helpers.go
 */
const thresholdOf = (text: string, capacity: Nanos): Nanos => {
  if (!text.endsWith('%')) return quantity(text);
  const percent = Number(text.slice(0, -1));
  if (percent === 0 || percent === 100) return 0n;
  const share = Math.fround(Math.fround(percent) / 100);
  return quantity(String(Math.trunc(Number(unitValue(capacity)) * share)));
};

const formatOf = (resource: string): 'BinarySI' | 'DecimalSI' =>
  resource === 'memory' || isHugePages(resource) ? 'BinarySI' : 'DecimalSI';

const atLeastNothing = (amount: Nanos): Nanos => (amount > 0n ? amount : 0n);

const bytesText = (bytes: bigint): string => formatQuantity(bytes * NANOS, 'BinarySI');
