import { EMPTY, merge, type Observable } from 'rxjs';
import type { NodeFacts } from '../../model/node-facts.js';
import { type NodeCgroups, type NodeCgroupsOptions, prepareNodeCgroups, tendNodeCgroups } from './node-cgroups.js';
import { orphanedCgroups } from './orphaned-cgroups.js';
import { noPodCgroups, podCgroups, type PodCgroups } from './pod-cgroups.js';

/** All that an agent does about cgroups, or nothing at all. */
export interface KubeletCgroups {
  /** Completes once pods can be started. Errors: `NodeCgroupsError`. */
  readonly prepare$: Observable<never>;
  readonly podCgroups: PodCgroups;
  /** Keeps limits, weights and pods that are gone in order, beside the loop. Errors: none. */
  readonly tend: (housekept$: Observable<unknown>, isPossiblyRunning: (uid: string) => boolean) => Observable<never>;
}

export interface KubeletCgroupsOptions extends Omit<NodeCgroupsOptions, keyof NodeCgroups> {
  readonly nodeCgroups?: NodeCgroups;
  readonly node: NodeFacts;
}

/** `nodeCgroups` may be absent: then pods stay where the runtime puts them. */
export const kubeletCgroups = ({ nodeCgroups, ...options }: KubeletCgroupsOptions): KubeletCgroups => {
  if (!nodeCgroups) return { prepare$: EMPTY, podCgroups: noPodCgroups, tend: () => EMPTY };
  const all = { ...options, ...nodeCgroups };
  const { root } = nodeCgroups.settings;
  return {
    prepare$: prepareNodeCgroups(all),
    podCgroups: podCgroups(all),
    tend: (housekept$, isPossiblyRunning) =>
      merge(tendNodeCgroups(all), orphanedCgroups({ ...all, root, housekept$, isPossiblyRunning })),
  };
};
