import { isMirrorPod } from '../../model/pod.js';
import type { Invariant } from './monitor.js';

/** Besides the time that the pod has: until it has stopped, was written and was deleted in a quiet time. */
const FINISHED_MS = 60_000;

export const apiDeletionsFinish: Invariant = {
  name: 'api-deletions-finish',
  rule: 'A pod of the API that is to go is gone from there once its time is over.',
  source: 'pkg/kubelet/status/status_manager.go canBeDeleted',
  watch: (truth) => ({
    end: ({ at, quietSince }) =>
      truth.apiPods.flatMap(({ metadata }) => {
        const { uid, deletionTimestamp } = metadata;
        if (deletionTimestamp === undefined || isMirrorPod({ metadata })) return [];
        const longestMs = (truth.pods.get(uid)?.longestGraceSeconds ?? 0) * 1000;
        const since = Math.max(quietSince, truth.pods.get(uid)?.specSince ?? 0);
        if (truth.life === undefined || at - since < 2 * longestMs + FINISHED_MS) return [];
        return [
          { uid, message: `is still there though it was to go by ${deletionTimestamp} (expected it to be gone)` },
        ];
      }),
  }),
};
