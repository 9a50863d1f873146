import type { CgroupName } from './cgroup-name.js';

/** What may be held to its share of the node; `pods` are all pods together. */
export type Enforcement =
  'pods' | 'system-reserved' | 'system-reserved-compressible' | 'kube-reserved' | 'kube-reserved-compressible';

/** What the configuration says about cgroups. */
export interface CgroupSettings {
  /** Where kubepods is made. */
  readonly root: CgroupName;
  /** Tasks per pod; none or less for no limit. */
  readonly podPidsLimit: number;
  readonly enforced: readonly Enforcement[];
  /** Quantities by `cpu`, `memory`, `pid` and the like. */
  readonly systemReserved: Readonly<Record<string, string>>;
  readonly kubeReserved: Readonly<Record<string, string>>;
  /** Paths; only looked at where they are enforced. */
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
}
