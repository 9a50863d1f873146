import { type CgroupDriver, parseCgroupPath } from '../../../model/cgroups/cgroup-name.js';
import type { CgroupSettings, Enforcement } from '../../../model/cgroups/cgroup-settings.js';
import type { AgentConfig } from '../fields/kubelet-configuration.js';

/** The settings for the cgroups of pods. */
export interface CgroupOptions {
  /** The driver for a runtime that does not report its own. */
  readonly driver: CgroupDriver;
  readonly settings: CgroupSettings;
}

/**
 * The cgroup settings of the configuration; undefined if pods get no cgroups. With the embedded runtime they get none
 * unless a root cgroup is configured: it works without root rights, and several agents, or a kubelet, may share the
 * machine, and would remove each other's cgroups as orphans.
 */
export const cgroupOptions = (config: AgentConfig): CgroupOptions | undefined => {
  const isEmbedded = config.containerRuntimeEndpoint === '';
  if (!config.cgroupsPerQOS || (isEmbedded && config.cgroupRoot === '')) return undefined;
  return {
    driver: config.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs',
    settings: {
      // In the form of the file system, for both drivers.
      root: parseCgroupPath('cgroupfs', config.cgroupRoot),
      podPidsLimit: config.podPidsLimit,
      // The validation has refused all other values.
      enforced: config.enforceNodeAllocatable.filter((option): option is Enforcement => option !== 'none'),
      systemReserved: config.systemReserved,
      kubeReserved: config.kubeReserved,
      systemReservedCgroup: config.systemReservedCgroup,
      kubeReservedCgroup: config.kubeReservedCgroup,
    },
  };
};
