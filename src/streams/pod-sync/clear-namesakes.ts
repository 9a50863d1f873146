import { concatMap, defer, filter, finalize, from, ignoreElements, mergeMap, type Observable } from 'rxjs';
import { restoredPod } from '../../model/cri/restored-pod.js';
import { formatPod } from '../../model/pod.js';
import type { RuntimeReader } from '../runtime-reader.js';
import { killPod } from './kill-pod.js';
import { note, type PodSyncContext } from './pod-sync-context.js';

export interface NamesakePorts {
  /** This agent has had a configuration of the pod of that UID, and its turn has come. */
  readonly hasStarted: (uid: string) => boolean;
  /** Nobody else stops the pod until the result is called; undefined when somebody does already. */
  readonly claim: (uid: string) => (() => void) | undefined;
}

/**
 * Stops what still runs under the full name of a static pod that is about to start, but under another UID that this agent has
 * not started: an earlier revision of its manifest, or a pod of that name that another source wants and that has to wait now, from
 * before this agent ran. Two of them must not run side by side; those that this agent has started had their turn before.
 *
 * Nobody else stops a pod meanwhile: it would have its hooks run twice, and less time than it is owed.
 *
 * Ends:   when they have stopped, each within its own grace period.
 * Errors: the runtime's, and what could not be stopped; one that housekeeping is stopping already, which is to be waited for.
 */
export const clearNamesakes = (
  context: PodSyncContext,
  reader: Pick<RuntimeReader, 'readyPodsCalled' | 'podStatus'>,
  { hasStarted, claim }: NamesakePorts,
): Observable<never> =>
  defer(() => reader.readyPodsCalled(context.pod.metadata)).pipe(
    mergeMap((refs) => from(refs)),
    filter(({ uid }) => uid !== context.pod.metadata.uid && !hasStarted(uid)),
    concatMap((ref) => {
      const giveBack = claim(ref.uid);
      if (!giveBack) throw new Error(`another pod of this name is being stopped: ${formatPod(ref)}`);
      return reader.podStatus(ref).pipe(
        concatMap((status) => {
          const finding = 'another pod of this name still runs, from before the agent started: it is stopped first';
          const cause = note(context, { kind: 'housekeeping', finding });
          return killPod({ ...context, pod: restoredPod(status, status), causes: [cause] }, status);
        }),
        finalize(giveBack),
      );
    }),
    ignoreElements(),
  );
