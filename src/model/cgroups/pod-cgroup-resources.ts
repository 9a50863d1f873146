import { cpuQuota, cpuShares } from '../cri/linux-resources.js';
import type { NodeFacts } from '../node-facts.js';
import type { Pod } from '../pod.js';
import { amountsOf, podAmountsWithOverhead } from '../pod-resources.js';
import { qosClass } from '../pod-status/qos.js';
import { milliValue, unitValue } from '../quantity.js';
import type { CgroupResources } from './cgroup-resources.js';
import { hugePagesIn } from './node-cgroup-resources.js';

/**
 * What the cgroup of a pod gets when it is made. Limits count for the pod as a whole only if nothing in it is without one.
 *
 * Source: pkg/kubelet/cm/helpers_linux.go ResourceConfigForPod.
 */
export const podCgroupResources = (
  pod: Pod,
  {
    podPidsLimit,
    cpuCfsQuota,
    cpuCfsQuotaPeriodMicros,
  }: Pick<NodeFacts, 'cpuCfsQuota' | 'cpuCfsQuotaPeriodMicros'> & { readonly podPidsLimit: number },
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
    ...(podPidsLimit > 0 && { pids: BigInt(podPidsLimit) }),
    hugePages: hugePagesIn(requests),
  };
};

/** Every container has a limit, or the pod has one. */
const isLimited = ({ spec }: Pod, resource: 'cpu' | 'memory'): boolean => {
  const has = (holder: Parameters<typeof amountsOf>[0]) => (amountsOf(holder, 'limits').get(resource) ?? 0n) > 0n;
  return has(spec) || [...spec.containers, ...(spec.initContainers ?? [])].every(has);
};
