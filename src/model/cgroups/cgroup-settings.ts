import type { CgroupName } from './cgroup-name.js';

/** The parts of the node whose limits can be enforced; `pods` are all pods together. */
export type Enforcement =
  'pods' | 'system-reserved' | 'system-reserved-compressible' | 'kube-reserved' | 'kube-reserved-compressible';

/** The cgroup settings of the configuration. */
export interface CgroupSettings {
  /** The parent of kubepods. */
  readonly root: CgroupName;
  /** Tasks per pod; no limit unless above 0. */
  readonly podPidsLimit: number;
  readonly enforced: readonly Enforcement[];
  /** Quantities by `cpu`, `memory`, `pid` and the like. */
  readonly systemReserved: Readonly<Record<string, string>>;
  readonly kubeReserved: Readonly<Record<string, string>>;
  /** Paths of cgroups; used only if they are enforced. */
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
}
