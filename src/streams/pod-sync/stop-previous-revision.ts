import { concatMap, defer, filter, finalize, from, ignoreElements, mergeMap, type Observable } from 'rxjs';
import { restoredPod } from '../../model/cri/restored-pod.js';
import { formatPod, podSourceOf } from '../../model/pod/pod.js';
import { hasSameFullName, mayBeFormer, type ReadyPod } from '../../model/pod-workers/former-static-pod.js';
import type { RuntimeReader } from '../pleg/runtime-reader.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { killPod } from './kill-pod.js';
import { journal, type PodSyncContext } from './pod-sync-context.js';

/**
 * Stops the pods that still run under the full name of a static pod that is about to start, under another UID that this agent has
 * not started: an earlier revision of its manifest, or a pod of another source, from before the start of the agent. Two pods of
 * one name must not run side by side. A pod that this agent has started had its turn before. A pod that no source wants, and that had
 * another namespace or the node's former name, is stopped first as well: see `mayBeFormer`.
 *
 * Reserves each stop: a second one would run its hooks twice and shorten its grace period.
 *
 * Ends:   when they have stopped, each within its own grace period.
 * Errors: the runtime's, and the pods that cannot be stopped; a pod that housekeeping stops already, which has to stop first.
 */
export const stopPreviousRevision = (
  context: PodSyncContext,
  reader: Pick<RuntimeReader, 'readyPods' | 'podStatus'>,
  { pods, sources, workers, apply }: Pick<KubeletState, 'pods' | 'sources' | 'workers' | 'apply'>,
): Observable<never> => {
  const { pod } = context;
  const isUnwanted = ({ uid, source }: ReadyPod): boolean =>
    source === podSourceOf(pod) && !sources.missing.some((name) => name === source) && pods.get(uid) === undefined;
  return defer(() => reader.readyPods()).pipe(
    mergeMap((ready) => from(ready)),
    filter(({ uid }) => uid !== pod.metadata.uid && !workers.hasStarted(uid)),
    filter((other) => hasSameFullName(pod, other) || (mayBeFormer(pod, other) && isUnwanted(other))),
    concatMap((ref) => {
      const { uid } = ref;
      if (!apply({ kind: 'kill-reserved', uid })) {
        throw new Error(`the former pod of this name is being stopped: ${formatPod(ref)}`);
      }
      return reader.podStatus(ref).pipe(
        concatMap((status) => {
          const finding = `the pod ${formatPod(ref)} still runs, from before the agent started: it is stopped first`;
          const cause = journal(context, { kind: 'housekeeping', finding });
          return killPod({ ...context, pod: restoredPod(status, status), causes: [cause] }, status);
        }),
        finalize(() => apply({ kind: 'kill-released', uid })),
      );
    }),
    ignoreElements(),
  );
};
