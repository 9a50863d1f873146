import { RESIZE_IN_PROGRESS } from '../pod-status/conditions.js';
import type { PodStatuses } from '../pod-status/pod-statuses.js';
import type { PodResizes } from './pod-resizes.js';

/** The numbers of pods by what becomes of their resize. */
export interface ResizeCounts {
  readonly deferred: number;
  readonly infeasible: number;
  readonly inProgress: number;
}

/** Counts the resizes of a node. Only pods that were resized are searched. */
export const resizeCounts = ({
  resizes: { pending, allocated },
  statuses,
}: {
  readonly resizes: PodResizes;
  readonly statuses: PodStatuses;
}): ResizeCounts => {
  const waiting = (reason: string): number => pending.count((resize) => resize.reason === reason);
  const isInProgress = (uid: string): boolean =>
    statuses.stored.get(uid)?.status.conditions?.some(({ type }) => type === RESIZE_IN_PROGRESS) ?? false;
  return {
    deferred: waiting('Deferred'),
    infeasible: waiting('Infeasible'),
    inProgress: [...allocated.keys()].filter(isInProgress).length,
  };
};
