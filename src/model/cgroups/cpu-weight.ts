/**
 * Converts shares of 2 to 262144 to the weights of cgroup v2, 1 to 10000. Current runtimes convert the shares of
 * containers by another formula, so weights of pods and of containers are not comparable.
 *
 * Source: pkg/kubelet/cm/cgroup_manager_linux.go getCPUWeight.
 */
export const cpuWeight = (shares: number): number =>
  shares >= 262_144 ? 10_000 : 1 + Math.trunc(((shares - 2) * 9_999) / 262_142);

/** Converts back; several shares have one weight. Source: pkg/kubelet/cm/cgroup_v2_manager_linux.go cpuWeightToCPUShares */
export const sharesOfWeight = (weight: number): number => 2 + Math.trunc(((weight - 1) * 262_142) / 9_999);
