import { type JsonObject, POD_MERGE_KEYS, strategicMergePatch } from '../kube-api/strategic-merge-patch.js';
import type { Pod, PodStatus } from '../pod/pod.js';
import { withoutEmpty } from './same-pod-status.js';

/**
 * Returns the patch that makes `status` the status of this pod in the API; undefined if the API has it already. A
 * pinned patch only applies to the version of the pod that it was made from.
 *
 * Source: pkg/util/pod/pod.go PatchPodStatus
 */
export const podStatusPatch = (
  { metadata: { uid, resourceVersion }, status: before }: Pick<Pod, 'metadata' | 'status'>,
  status: PodStatus,
  { isPinned }: { readonly isPinned: boolean },
): JsonObject | undefined => {
  const [original, modified] = [{ status: withoutEmpty(before ?? {}) }, { status: withoutEmpty(status) }];
  const patch = strategicMergePatch(original, modified, POD_MERGE_KEYS);
  if (!patch) return undefined;
  return { metadata: { uid, ...(isPinned && { resourceVersion }) }, ...patch };
};
