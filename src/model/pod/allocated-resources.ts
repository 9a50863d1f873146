import { parseQuantity } from '../resources/quantity.js';
import type { ResourceList } from '../resources/resource-list.js';
import { firstNamed } from '../values/indexed-lists.js';
import type { Container, Pod, PodStatus } from './pod.js';

/** The amounts of a container, or of a pod as a whole. */
export interface Amounts {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
}

/** The amounts with which a pod was admitted and its containers are created; undefined where they are unknown. */
export interface AllocatedResources {
  readonly pod: Amounts | undefined;
  readonly container: (name: string) => Amounts | undefined;
}

/**
 * Returns the pod with the amounts of CPU and memory that it has, instead of those of its spec, which may be those of a resize. All
 * parts of the agent act on this pod. Returns the same object if the amounts are equal.
 *
 * Source: pkg/kubelet/allocation/allocation_manager.go UpdatePodFromAllocation
 */
export const withAllocated = (pod: Pod, allocated: AllocatedResources): Pod => {
  const { spec } = pod;
  const containers = allAllocated(spec.containers, allocated);
  const initContainers = spec.initContainers && allAllocated(spec.initContainers, allocated);
  const resources = withAmounts(spec.resources, allocated.pod);
  const isSame =
    containers === spec.containers && initContainers === spec.initContainers && resources === spec.resources;
  if (isSame) return pod;
  const changed = { containers: [...containers], ...(initContainers && { initContainers: [...initContainers] }) };
  return { ...pod, spec: { ...spec, ...changed, ...(resources && { resources }) } };
};

/** The amounts of a pod on which the agent acts already. */
export const allocatedOfPod = ({ spec }: Pod): AllocatedResources => ({
  pod: spec.resources ?? {},
  container: (name) => {
    const found = firstNamed(spec.containers, name) ?? firstNamed(spec.initContainers ?? [], name);
    return found && (found.resources ?? {});
  },
});

/**
 * The amounts of the status that the API has, for a pod that an earlier agent has started. The status does not show which amounts of
 * the pod as a whole come from its spec.
 */
export const allocatedOfStatus = ({
  containerStatuses = [],
  initContainerStatuses = [],
}: PodStatus): AllocatedResources => ({
  pod: undefined,
  container: (name) => {
    const status = firstNamed(containerStatuses, name) ?? firstNamed(initContainerStatuses, name);
    const { resources, allocatedResources } = status ?? {};
    return resources && { requests: allocatedResources ?? resources.requests, limits: resources.limits };
  },
});

/** Whether a pod asks for other amounts than it has: its API object was resized. */
export const isResized = (asked: Pod, pod: Pod): boolean => withAllocated(asked, allocatedOfPod(pod)) !== asked;

/** Whether a pod asks for other amounts of the pod as a whole. */
export const hasOtherPodAmounts = ({ spec }: Pod, { pod }: AllocatedResources): boolean =>
  withAmounts(spec.resources, pod) !== spec.resources;

/** Only these can be resized. Source: pkg/apis/core/validation/validation.go ValidatePodResize */
const RESIZABLE = ['cpu', 'memory'];

const allAllocated = (containers: readonly Container[], allocated: AllocatedResources): readonly Container[] => {
  const changed = containers.map((container) => {
    const resources = withAmounts(container.resources, allocated.container(container.name));
    return resources === container.resources ? container : { ...container, resources };
  });
  return changed.every((container, index) => container === containers[index]) ? containers : changed;
};

/** Returns the resources with these amounts of CPU and memory; the same object if they are equal, or if none are known. */
export const withAmounts = <Resources extends Amounts>(
  resources: Resources | undefined,
  allocated: Amounts | undefined,
): Resources | undefined => {
  if (!allocated) return resources;
  const of = (kind: keyof Amounts): ResourceList | undefined => {
    const [asked = {}, has = {}] = [resources?.[kind], allocated[kind]];
    const fixed = Object.entries(asked).filter(([name]) => !RESIZABLE.includes(name));
    const amounts = RESIZABLE.flatMap((name) => (has[name] === undefined ? [] : [[name, has[name]] as const]));
    return fixed.length + amounts.length > 0 ? Object.fromEntries([...fixed, ...amounts]) : undefined;
  };
  const changed = { ...resources, requests: of('requests'), limits: of('limits') } as Resources;
  return isSameAmounts(changed, resources) ? resources : changed;
};

const isSameAmounts = (one: Amounts = {}, other: Amounts = {}): boolean =>
  one === other || (isSameList(one.requests, other.requests) && isSameList(one.limits, other.limits));

const isSameList = (one: ResourceList = {}, other: ResourceList = {}): boolean =>
  [...Object.keys(one), ...Object.keys(other)].every((name) => isSameAmount(one[name], other[name]));

/** Whether two quantities are equal, or both absent. */
export const isSameAmount = (left: string | undefined, right: string | undefined): boolean => {
  if (left === right) return true;
  return left !== undefined && right !== undefined && parseQuantity(left) === parseQuantity(right);
};
