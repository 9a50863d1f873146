import { cpuQuota, cpuShares } from '../cri/linux-resources.js';
import type { NodeFacts } from '../node/node-facts.js';
import { type Container, isSidecar, type Pod } from '../pod/pod.js';
import { amountsOf, podAmountsWithOverhead } from '../resources/pod-resources.js';
import { qosClass } from '../pod-status/qos.js';
import { milliValue, unitValue } from '../resources/quantity.js';
import type { CgroupResources } from './cgroup-resources.js';
import { podMemoryResources } from './memory-qos.js';
import { hugePagesIn } from './node-cgroup-resources.js';

export type PodCgroupFacts = Pick<NodeFacts, 'cpuCfsQuota' | 'cpuCfsQuotaPeriodMicros' | 'memoryQos'>;

/**
 * Returns the resources of a new pod cgroup. Limits count for the pod as a whole only if every container has one.
 *
 * Source: pkg/kubelet/cm/helpers_linux.go ResourceConfigForPod.
 */
export const podCgroupResources = (
  pod: Pod,
  { podPidsLimit, cpuCfsQuota, cpuCfsQuotaPeriodMicros, memoryQos }: PodCgroupFacts & { readonly podPidsLimit: number },
): CgroupResources => {
  const requests = podAmountsWithOverhead(pod, 'requests');
  const limits = podAmountsWithOverhead(pod, 'limits');
  const shares = cpuShares(milliValue(requests.get('cpu') ?? 0n));
  const quota = cpuCfsQuota ? cpuQuota(milliValue(limits.get('cpu') ?? 0n), cpuCfsQuotaPeriodMicros) : -1;
  const cpu = { cpuQuota: quota, cpuPeriod: cpuCfsQuotaPeriodMicros };
  const memory = unitValue(limits.get('memory') ?? 0n);
  const ofClass = (): CgroupResources => {
    switch (qosClass(pod)) {
      case 'Guaranteed':
        return { cpuShares: shares, ...cpu, memory };
      case 'Burstable':
        return {
          cpuShares: shares,
          ...(isLimited(pod, 'cpu') && cpu),
          ...(isLimited(pod, 'memory') && { memory }),
        };
      case 'BestEffort':
        return { cpuShares: cpuShares(0) };
    }
  };
  return {
    ...ofClass(),
    ...podMemoryResources(pod, memoryQos),
    ...(podPidsLimit > 0 && { pids: BigInt(podPidsLimit) }),
    hugePages: hugePagesIn(requests),
  };
};

/**
 * Whether the pod, or each of its containers, has a limit. An init container is counted together with the sidecars
 * before it, so the limit of such a sidecar is enough for it.
 */
const isLimited = ({ spec }: Pod, resource: 'cpu' | 'memory'): boolean => {
  const has = (holder: Parameters<typeof amountsOf>[0]) => (amountsOf(holder, 'limits').get(resource) ?? 0n) > 0n;
  let hasLimitedSidecar = false;
  const isInitLimited = (container: Container): boolean => {
    const isCounted = has(container) || hasLimitedSidecar;
    if (isSidecar(container)) hasLimitedSidecar = isCounted;
    return isCounted;
  };
  return has(spec) || (spec.containers.every(has) && (spec.initContainers ?? []).every(isInitLimited));
};
