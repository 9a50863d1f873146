import { defer, ignoreElements, map, type Observable, type SchedulerLike, Subject, timer } from 'rxjs';
import { killTimeoutMs } from '../../model/pod-workers/kill-timeout.js';
import type { KillRequest, RecordedKill } from '../../model/pod-workers/pod-update.js';
import type { JournalId } from '../../model/journal/journal.js';
import { type Pod, podRef } from '../../model/pod/pod.js';
import { alongside } from '../operators/alongside.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RecordJournal } from '../ports/record-journal.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { untilStopped } from './until-stopped.js';

/**
 * Stops a pod and completes once its containers have stopped.
 *
 * Errors: they have not in time, which is an event of the pod, too. The pod is being stopped even so.
 */
export type KillPod = (request: KillRequest) => Observable<never>;

export interface KillPodPorts {
  /** Gives the request to the loop. */
  readonly requestKill: (request: RecordedKill) => void;
  readonly record: RecordJournal;
  /** Completes once no container of the pod can run any more: at once, if none can. Errors: none. */
  readonly untilStopped: (uid: string) => Observable<unknown>;
  readonly recordEvent: RecordEvent;
  readonly scheduler: SchedulerLike;
}

/**
 * Stops pods for managers that wait for the end: the wait is one and a half times the grace period, and at least ten
 * seconds. The grace period is that of the request, else the pod's own.
 *
 * Source: pkg/kubelet/pod_workers.go killPodNow
 */
export const killPodNow =
  ({ requestKill, untilStopped, record, recordEvent, scheduler }: KillPodPorts): KillPod =>
  (request) =>
    defer(() => {
      const { pod, kill, reason, event } = request;
      const { graceSeconds } = kill;
      const cause = record({ kind: 'kill-requested', reason, graceSeconds, pod: podRef(pod), causes: [] });
      if (event) recordEvent({ pod, type: 'Warning', ...event, causes: [cause] });
      requestKill({ ...request, cause });
      return stoppedInTime({ pod, graceSeconds, causes: [cause] }, { untilStopped, recordEvent, scheduler });
    });

/** A pod that is being stopped. */
export interface StoppingPod {
  readonly pod: Pod;
  /** Default: the pod's own. */
  readonly graceSeconds?: number | undefined;
  /** The time of the request, in the scheduler's milliseconds. Default: now. */
  readonly since?: number;
  readonly causes: readonly JournalId[];
}

/**
 * Completes once the containers of the pod have stopped.
 *
 * Errors: they have not in time, which is an event of the pod, too. The pod is being stopped even so.
 */
export const stoppedInTime = (
  { pod, graceSeconds, since, causes }: StoppingPod,
  { untilStopped, recordEvent, scheduler }: Pick<KillPodPorts, 'untilStopped' | 'recordEvent' | 'scheduler'>,
): Observable<never> =>
  defer(() => {
    const limitMs = killTimeoutMs(graceSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0);
    const now = scheduler.now();
    const tooLate$ = timer(Math.max(0, (since ?? now) + limitMs - now), scheduler).pipe(
      map((): never => {
        const message = 'Container runtime did not kill the pod within specified grace period.';
        recordEvent({ pod, type: 'Warning', reason: 'ExceededGracePeriod', message, causes });
        throw new Error('timeout waiting to kill pod');
      }),
    );
    return untilStopped(pod.metadata.uid).pipe(ignoreElements(), alongside(tooLate$));
  });

/** Where managers enter the loop: their requests are one of its inputs. */
export interface PodKills {
  readonly killPod: KillPod;
  /** Hot. Errors: none. Ends: never. */
  readonly kill$: Observable<RecordedKill>;
}

interface PodKillsOptions extends Pick<KillPodPorts, 'record' | 'recordEvent' | 'scheduler'> {
  readonly state: Pick<KubeletState, 'workers' | 'transition$'>;
}

export const podKills = ({ state, record, recordEvent, scheduler }: PodKillsOptions): PodKills => {
  const kill$ = new Subject<RecordedKill>();
  const killPod = killPodNow({
    requestKill: (request) => kill$.next(request),
    untilStopped: untilStopped(state, scheduler),
    record,
    recordEvent,
    scheduler,
  });
  return { killPod, kill$ };
};
