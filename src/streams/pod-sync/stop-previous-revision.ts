import { concatMap, defer, filter, finalize, from, ignoreElements, mergeMap, type Observable } from 'rxjs';
import { restoredPod } from '../../model/cri/restored-pod.js';
import { formatPod } from '../../model/pod/pod.js';
import type { RuntimeReader } from '../pleg/runtime-reader.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { killPod } from './kill-pod.js';
import { journal, type PodSyncContext } from './pod-sync-context.js';

/**
 * Stops the pods that still run under the full name of a static pod that is about to start, under another UID that this agent has
 * not started: an earlier revision of its manifest, or a pod of another source, from before the start of the agent. Two pods of
 * one name must not run side by side. A pod that this agent has started had its turn before.
 *
 * Reserves each stop: a second one would run its hooks twice and shorten its grace period.
 *
 * Ends:   when they have stopped, each within its own grace period.
 * Errors: the runtime's, and the pods that cannot be stopped; a pod that housekeeping stops already, which has to stop first.
 */
export const stopPreviousRevision = (
  context: PodSyncContext,
  reader: Pick<RuntimeReader, 'readyPodsCalled' | 'podStatus'>,
  { workers, apply }: Pick<KubeletState, 'workers' | 'apply'>,
): Observable<never> =>
  defer(() => reader.readyPodsCalled(context.pod.metadata)).pipe(
    mergeMap((refs) => from(refs)),
    filter(({ uid }) => uid !== context.pod.metadata.uid && !workers.hasStarted(uid)),
    concatMap((ref) => {
      const { uid } = ref;
      if (!apply({ kind: 'kill-reserved', uid })) {
        throw new Error(`another pod of this name is being stopped: ${formatPod(ref)}`);
      }
      return reader.podStatus(ref).pipe(
        concatMap((status) => {
          const finding = 'another pod of this name still runs, from before the agent started: it is stopped first';
          const cause = journal(context, { kind: 'housekeeping', finding });
          return killPod({ ...context, pod: restoredPod(status, status), causes: [cause] }, status);
        }),
        finalize(() => apply({ kind: 'kill-released', uid })),
      );
    }),
    ignoreElements(),
  );
