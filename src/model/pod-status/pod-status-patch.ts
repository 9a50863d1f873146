import { type JsonObject, POD_MERGE_KEYS, strategicMergePatch } from '../api/strategic-merge-patch.js';
import type { Pod, PodStatus } from '../pod.js';
import { withoutEmpty } from './same-pod-status.js';

/**
 * The patch that makes `status` the status of this very pod; undefined when the API says that already. Pinned, it only applies to the
 * version of the pod that it was made from.
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
