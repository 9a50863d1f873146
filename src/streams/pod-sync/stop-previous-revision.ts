import {
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  finalize,
  from,
  ignoreElements,
  mergeMap,
  type Observable,
  of,
} from 'rxjs';
import { restoredPod } from '../../model/cri/restored-pod.js';
import { isQuiet, type RuntimePod, type RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { CONFIG_SOURCE_ANNOTATION, formatPod, type PodRef, podSourceOf } from '../../model/pod/pod.js';
import { mayBeFormer } from '../../model/pod-workers/former-static-pod.js';
import type { RuntimeReader } from '../pleg/runtime-reader.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { killPod } from './kill-pod.js';
import { journal, type PodSyncContext } from './pod-sync-context.js';

/**
 * Stops the pods that still run under the full name of a static pod that is about to start, under another UID that this agent has
 * not started: an earlier revision of its manifest, or a pod of another source, from before the start of the agent. Two pods of
 * one name must not run side by side. A pod that this agent has started had its turn before. The pod of the manifest before an edit of
 * its namespace, or under a former name of the node, is stopped first as well, if its source does not want it any more: the new pod
 * needs its ports and volumes. Such a pod is looked for among the pods of the last relist, so no start waits for a listing.
 *
 * Reserves each stop: a second one would run its hooks twice and shorten its grace period.
 *
 * Ends:   when they have stopped, each within its own grace period.
 * Errors: the runtime's, and the pods that cannot be stopped; a pod that housekeeping stops already, which has to stop first.
 */
export const stopPreviousRevision = (
  context: PodSyncContext,
  reader: Pick<RuntimeReader, 'readyPodsCalled' | 'podStatus'>,
  state: Pick<KubeletState, 'pods' | 'sources' | 'workers'>,
  listedPods: () => readonly RuntimePod[] = () => [],
): Observable<never> => {
  const { workers } = state;
  const named$ = defer(() => reader.readyPodsCalled(context.pod.metadata)).pipe(mergeMap((refs) => from(refs)));
  return concat(named$, formerPods(context, reader, state, listedPods)).pipe(
    filter(({ uid }) => uid !== context.pod.metadata.uid && !workers.hasStarted(uid)),
    concatMap((ref) => {
      const { uid } = ref;
      if (!workers.reserveKill(uid)) {
        throw new Error(`another pod of this name is being stopped: ${formatPod(ref)}`);
      }
      return reader.podStatus(ref).pipe(
        concatMap((status) => {
          const finding = `${formatPod(ref)} still runs, from before the agent started: it is stopped first`;
          const cause = journal(context, { kind: 'housekeeping', finding });
          return killPod({ ...context, pod: restoredPod(status, status), causes: [cause] }, status);
        }),
        finalize(() => workers.releaseKill(uid)),
      );
    }),
    ignoreElements(),
  );
};

/** The former pods of a static pod that still run. Reads only pods that are listed and whose names fit. */
const formerPods = (
  { pod }: PodSyncContext,
  reader: Pick<RuntimeReader, 'podStatus'>,
  { pods, sources, workers }: Pick<KubeletState, 'pods' | 'sources' | 'workers'>,
  listedPods: () => readonly RuntimePod[],
): Observable<PodRef> =>
  defer(() => {
    const source = podSourceOf(pod);
    // Its source may still want it.
    if (sources.missing.some((name) => name === source)) return EMPTY;
    const listed = listedPods().filter(
      (other) =>
        mayBeFormer(pod, other) &&
        other.items.some(({ kind, state }) => kind === 'sandbox' && state === 'running') &&
        pods.get(other.uid) === undefined &&
        !workers.hasStarted(other.uid),
    );
    return from(listed).pipe(
      concatMap(({ uid, namespace, name }) => {
        const ref = { uid, namespace, name };
        return reader
          .podStatus(ref)
          .pipe(concatMap((status) => (!isQuiet(status) && sourceIn(status) === source ? of(ref) : EMPTY)));
      }),
    );
  });

const sourceIn = ({ sandboxes }: RuntimePodStatus): string | undefined =>
  sandboxes[0]?.annotations[CONFIG_SOURCE_ANNOTATION];
