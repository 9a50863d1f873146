import type { CgroupResources } from '../cgroups/cgroup-resources.js';
import type { Pod, PodStatus } from '../pod/pod.js';
import { formatQuantity, milliValue, parseQuantity } from '../resources/quantity.js';
import { podLimits, podRequests, type ResourceList } from '../resources/resource-list.js';

type Resources = NonNullable<PodStatus['resources']>;

const NANOS_PER_MILLI = 1_000_000n;
const NANOS = 1_000_000_000n;
/** Source: pkg/kubelet/cm/helpers_linux.go MinShares, MinMilliCPULimit. Thousandths of a CPU. */
const MIN_CPU_REQUEST = 2;
const MIN_CPU_LIMIT = 10;

/**
 * Returns `resources` and `allocatedResources` of a pod's status: the resources of the pod as a whole. A pod that is
 * Running in the API has the values of its cgroup; without a cgroup it keeps the values of its earlier status. `has` is the pod with the
 * amounts that it has, which are not those that it was given while a resize is in progress: no cgroup shows a request of memory.
 *
 * Source: pkg/kubelet/kubelet_pods.go convertToAPIPodLevelResourcesStatus, getEffectiveAllocatedResources.
 */
export const podLevelResources = (
  pod: Pod,
  before: PodStatus | undefined,
  cgroup: CgroupResources | undefined,
  has: Pod = pod,
): Pick<PodStatus, 'resources' | 'allocatedResources'> => {
  const allocated = podRequests(pod);
  const resources =
    pod.status?.phase === 'Running' ? actuated(has, before, cgroup) : { requests: allocated, limits: podLimits(pod) };
  return {
    resources: { ...pod.spec.resources, requests: orNothing(resources.requests), limits: orNothing(resources.limits) },
    allocatedResources: orNothing(allocated),
  };
};

const actuated = (
  has: Pod,
  before: PodStatus | undefined,
  cgroup: CgroupResources | undefined,
): Required<Pick<Resources, 'requests' | 'limits'>> => {
  const { spec } = has;
  const { cpuShares = 0, cpuQuota = -1, cpuPeriod = 0, memory = 0n } = cgroup ?? {};
  const requests: Record<string, string> = { ...spec.resources?.requests };
  const limits: Record<string, string> = { ...spec.resources?.limits };
  const old = before?.phase === 'Running' ? before.resources : undefined;

  const request = cpuShares < MIN_CPU_REQUEST ? 0 : Math.ceil((cpuShares * 1000) / 1024);
  setCpu(requests, old?.requests, request, MIN_CPU_REQUEST);
  const ofMemory = requests.memory ?? podRequests(has).memory;
  const kept = cgroup ? undefined : old?.requests?.memory;
  if (ofMemory !== undefined || kept !== undefined) requests.memory = kept ?? ofMemory!;

  const limit = cpuQuota < 0 || cpuPeriod <= 0 ? 0 : Math.trunc((cpuQuota * 1000) / cpuPeriod);
  setCpu(limits, old?.limits, limit, MIN_CPU_LIMIT);
  if (memory > 0n) limits.memory = formatQuantity(memory * NANOS, 'BinarySI');
  else if (old?.limits?.memory !== undefined) limits.memory = old.limits.memory;
  return { requests, limits };
};

/** Below the minimum of a cgroup, the value of the spec stays. */
const setCpu = (
  list: Record<string, string>,
  old: ResourceList | undefined,
  actualMillis: number,
  minimum: number,
): void => {
  if (actualMillis > 0) {
    const specified = milliValue(parseQuantity(list.cpu ?? '0') ?? 0n);
    if (actualMillis > minimum || specified > minimum) {
      list.cpu = formatQuantity(BigInt(actualMillis) * NANOS_PER_MILLI);
    }
  } else if (old?.cpu !== undefined) list.cpu = old.cpu;
};

const orNothing = (list: ResourceList): Record<string, string> | undefined =>
  Object.keys(list).length > 0 ? list : undefined;
