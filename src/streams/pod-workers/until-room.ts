import { catchError, concat, defer, EMPTY, merge, type Observable, type SchedulerLike } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { formatPod, type Pod } from '../../model/pod/pod.js';
import type { Logger } from '../ports/logger.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { stoppedInTime } from './kill-pod-now.js';
import { untilStopped } from './until-stopped.js';

/**
 * Completes once the pods have stopped that are stopped to make room for this one: at once, if there are none. `onWait` receives why it
 * waits. A pod that does not stop within its time, as `stoppedInTime` has it, is waited for no longer.
 *
 * Errors: none.
 * Source: pkg/kubelet/preemption/preemption.go evictPodsToFreeRequests
 */
export type UntilRoom = (pod: Pod, onWait: (wait: { readonly text: string }) => void) => Observable<never>;

export interface UntilRoomOptions {
  readonly state: Pick<KubeletState, 'value' | 'apply' | 'workers' | 'transition$'>;
  readonly recordEvent: RecordEvent;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

export const untilRoom = ({ state, recordEvent, log, scheduler }: UntilRoomOptions): UntilRoom => {
  const ports = { untilStopped: untilStopped(state, scheduler), recordEvent, scheduler };
  const stopped = (pod: Pod, since: number): Observable<never> =>
    stoppedInTime({ pod, since, causes: [] }, ports).pipe(
      catchError((error: unknown) => {
        log.warn({ pod: formatPod(pod), error: errorText(error) }, 'a pod that makes room has not stopped in time');
        return EMPTY;
      }),
    );
  return ({ metadata: { uid } }, onWait) =>
    defer(() => {
      const wait = state.value.preemptions.waits.get(uid);
      if (!wait) return EMPTY;
      const { pods, since } = wait;
      onWait({ text: `waits until the pods have stopped that make room for it: ${pods.map(formatPod).join(', ')}` });
      const made$ = defer(() => {
        state.apply({ kind: 'room-made', uid });
        return EMPTY;
      });
      return concat(merge(...pods.map((pod) => stopped(pod, since))), made$);
    });
};
