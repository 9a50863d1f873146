import { type CgroupDriver, parseCgroupPath } from '../../model/cgroups/cgroup-name.js';
import type { CgroupSettings, Enforcement } from '../../model/cgroups/cgroup-settings.js';
import type { AgentConfig } from './kubelet-configuration.js';

/** How pods are put into cgroups of their own. */
export interface CgroupOptions {
  /** For a runtime that does not say which one it uses. */
  readonly driver: CgroupDriver;
  readonly settings: CgroupSettings;
}

/**
 * What the configuration says; undefined where pods get no cgroups. With the embedded runtime that is so unless a root for them
 * is named: it needs no root rights, and several agents, or a kubelet, may be on the machine, who would remove each other's
 * cgroups as orphans.
 */
export const cgroupOptions = (config: AgentConfig): CgroupOptions | undefined => {
  const isEmbedded = config.containerRuntimeEndpoint === '';
  if (!config.cgroupsPerQOS || (isEmbedded && config.cgroupRoot === '')) return undefined;
  return {
    driver: config.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs',
    settings: {
      // Always in the form of the file system, whatever the driver.
      root: parseCgroupPath('cgroupfs', config.cgroupRoot),
      podPidsLimit: config.podPidsLimit,
      // Any other word has been refused.
      enforced: config.enforceNodeAllocatable.filter((option): option is Enforcement => option !== 'none'),
      systemReserved: config.systemReserved,
      kubeReserved: config.kubeReserved,
      systemReservedCgroup: config.systemReservedCgroup,
      kubeReservedCgroup: config.kubeReservedCgroup,
    },
  };
};
