import { EMPTY, merge, type Observable } from 'rxjs';
import type { NodeFacts } from '../../model/node/node-facts.js';
import type { Metrics } from '../ports/metrics.js';
import { measuredCgroups } from './measured-cgroups.js';
import { type NodeCgroups, type NodeCgroupsOptions, prepareNodeCgroups, tendNodeCgroups } from './node-cgroups.js';
import { orphanedCgroups } from './orphaned-cgroups.js';
import { noPodCgroups, podCgroups, type PodCgroups } from './pod-cgroups.js';

/** The management of cgroups of an agent. */
export interface KubeletCgroups {
  /** Completes once pods can be started. Errors: `NodeCgroupsError`. */
  readonly prepare$: Observable<never>;
  readonly podCgroups: PodCgroups;
  /** Keeps limits and weights up to date, and removes the cgroups of former pods. Runs beside the loop. Errors: none. Ends: never. */
  readonly tend: (housekept$: Observable<unknown>, isPossiblyRunning: (uid: string) => boolean) => Observable<never>;
}

export interface KubeletCgroupsOptions extends Omit<NodeCgroupsOptions, keyof NodeCgroups> {
  readonly nodeCgroups?: NodeCgroups;
  readonly node: NodeFacts;
  readonly metrics: Pick<Metrics, 'cgroupOperation'>;
}

/** Makes the management of cgroups. Without `nodeCgroups` it does nothing: pods stay in the cgroups of the runtime. */
export const kubeletCgroups = ({ nodeCgroups, ...options }: KubeletCgroupsOptions): KubeletCgroups => {
  if (!nodeCgroups) return { prepare$: EMPTY, podCgroups: noPodCgroups, tend: () => EMPTY };
  const all = { ...options, ...nodeCgroups, cgroups: measuredCgroups(nodeCgroups.cgroups, options) };
  const { root } = nodeCgroups.settings;
  return {
    prepare$: prepareNodeCgroups(all),
    podCgroups: podCgroups(all),
    tend: (housekept$, isPossiblyRunning) =>
      merge(tendNodeCgroups(all), orphanedCgroups({ ...all, root, housekept$, isPossiblyRunning })),
  };
};
