import type { DeepPartial, LinuxContainerResources } from '../../generated/runtime/v1/api.js';
import type { CgroupReading, CgroupResources } from '../cgroups/cgroup-resources.js';
import { sharesOfWeight } from '../cgroups/cpu-weight.js';
import { cpuQuota, cpuShares } from '../cri/linux-resources.js';
import type { ResourceList } from '../resources/resource-list.js';
import { milliValue, quantity, unitValue } from '../resources/quantity.js';

/**
 * Returns what the sandbox of a pod has after a write to the cgroup of the pod, for the runtime: all that the cgroup has then, without the
 * overhead of the sandbox, which the runtime is given by itself.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_sandbox_linux.go convertResourceConfigToLinuxContainerResources
 */
export const sandboxResources = (
  has: CgroupReading,
  written: CgroupResources,
  { overhead = {}, periodMicros }: { readonly overhead?: ResourceList | undefined; readonly periodMicros: number },
): DeepPartial<LinuxContainerResources> => {
  const milliOverhead = milliValue(quantity(overhead.cpu ?? '0'));
  const shares = written.cpuShares ?? has.cpuShares ?? sharesOfWeight(has.cpuWeight ?? 1);
  const quota = written.cpuQuota ?? has.cpuQuota;
  const memory = written.memory ?? has.memory ?? 0n;
  return {
    cpuShares: BigInt(milliOverhead === 0 ? shares : cpuShares(Math.max(milliOf(shares) - milliOverhead, 0))),
    cpuPeriod: BigInt(periodMicros),
    cpuQuota: BigInt(quota <= 0 || milliOverhead === 0 ? quota : quota - cpuQuota(milliOverhead, periodMicros)),
    memoryLimitInBytes: memory <= 0n ? memory : memory - unitValue(quantity(overhead.memory ?? '0')),
  };
};

/** Source: pkg/kubelet/cm/helpers_linux.go sharesToMilliCPU */
const milliOf = (shares: number): number => (shares <= 2 ? 0 : Math.ceil((shares * 1000) / 1024));
