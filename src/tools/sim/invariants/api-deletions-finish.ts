import { isMirrorPod } from '../../../model/pod/pod.js';
import type { Invariant } from './monitor.js';

/** The time beside the grace period of the pod, in quiet times: to stop it, write its status and delete it. */
const FINISHED_MS = 60_000;

export const apiDeletionsFinish: Invariant = {
  name: 'api-deletions-finish',
  rule: 'A pod that is deleted in the API is gone from there after its grace period.',
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
          { uid, message: `still exists after its deletionTimestamp ${deletionTimestamp} (expected it to be gone)` },
        ];
      }),
  }),
};
