import { concatMap, defer, filter, from, ignoreElements, mergeMap, type Observable } from 'rxjs';
import { restoredPod } from '../../model/cri/restored-pod.js';
import type { RuntimeReader } from '../runtime-reader.js';
import { killPod } from './kill-pod.js';
import { note, type PodSyncContext } from './pod-sync-context.js';

/**
 * Stops what still runs under the full name of a static pod that is about to start, but under another UID of which this
 * agent has no configuration: an earlier revision of its manifest, from before this agent ran. Two of them must not run side
 * by side; revisions that this agent knows wait for their turn anyway.
 *
 * Ends:   when they have stopped, each within its own grace period.
 * Errors: the runtime's, and what could not be stopped.
 */
export const clearNamesakes = (
  context: PodSyncContext,
  reader: Pick<RuntimeReader, 'readyPodsCalled' | 'podStatus'>,
  isKnown: (uid: string) => boolean,
): Observable<never> =>
  defer(() => reader.readyPodsCalled(context.pod.metadata)).pipe(
    mergeMap((refs) => from(refs)),
    filter(({ uid }) => uid !== context.pod.metadata.uid && !isKnown(uid)),
    concatMap((ref) => reader.podStatus(ref)),
    concatMap((status) => {
      const finding = 'an earlier revision of the pod still runs, from before the agent started: it is stopped first';
      const cause = note(context, { kind: 'housekeeping', finding });
      return killPod({ ...context, pod: restoredPod(status, status), causes: [cause] }, status);
    }),
    ignoreElements(),
  );
