import { byCreation } from '../pod/pod.js';
import type { PodConfigUpdate } from './pod-config.js';

/**
 * Returns the updates of one set with at most `mostPods` pods each, in the same order. Only the last one may report the source as complete:
 * each of them may contain pods of the set.
 */
export const slicePodUpdates = (updates: readonly PodConfigUpdate[], mostPods: number): readonly PodConfigUpdate[] => {
  if (updates.every((update) => update.kind !== 'pods' || update.pods.length <= mostPods)) return updates;
  const slices = updates.flatMap((update): readonly PodConfigUpdate[] => {
    if (update.kind !== 'pods' || update.pods.length <= mostPods) return [update];
    // In the order in which they are handled, over all slices.
    const pods = update.op === 'ADD' ? update.pods.toSorted(byCreation) : update.pods;
    return Array.from({ length: Math.ceil(pods.length / mostPods) }, (_, index) => ({
      ...update,
      pods: pods.slice(index * mostPods, (index + 1) * mostPods),
    }));
  });
  const last = slices.findLastIndex(({ kind }) => kind === 'pods');
  return slices.map((slice, index) => (slice.kind === 'pods' && index < last ? { ...slice, isPartial: true } : slice));
};
