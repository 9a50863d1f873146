import type { LinuxContainerResources } from '../../../generated/runtime/v1/api.js';

/** Merges an update into the resources. A field with the default value keeps the old value. */
export const mergeResources = (
  before: LinuxContainerResources | undefined,
  update: LinuxContainerResources,
): LinuxContainerResources => ({
  ...update,
  cpuPeriod: update.cpuPeriod || (before?.cpuPeriod ?? 0n),
  cpuQuota: update.cpuQuota || (before?.cpuQuota ?? 0n),
  cpuShares: update.cpuShares || (before?.cpuShares ?? 0n),
  memoryLimitInBytes: update.memoryLimitInBytes || (before?.memoryLimitInBytes ?? 0n),
  memorySwapLimitInBytes: update.memorySwapLimitInBytes || (before?.memorySwapLimitInBytes ?? 0n),
  oomScoreAdj: update.oomScoreAdj || (before?.oomScoreAdj ?? 0n),
  cpusetCpus: update.cpusetCpus || (before?.cpusetCpus ?? ''),
  cpusetMems: update.cpusetMems || (before?.cpusetMems ?? ''),
  hugepageLimits: update.hugepageLimits.length > 0 ? update.hugepageLimits : (before?.hugepageLimits ?? []),
  unified: { ...before?.unified, ...update.unified },
});
