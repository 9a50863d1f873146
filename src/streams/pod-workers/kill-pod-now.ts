import { defer, ignoreElements, map, type Observable, type SchedulerLike, Subject, timer } from 'rxjs';
import { killTimeoutMs } from '../../model/pod-workers/kill-timeout.js';
import type { KillRequest } from '../../model/pod-workers/pod-update.js';
import { alongside } from '../operators/alongside.js';
import type { RecordEvent } from '../ports/record-event.js';
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
  readonly requestKill: (request: KillRequest) => void;
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
  ({ requestKill, untilStopped, recordEvent, scheduler }: KillPodPorts): KillPod =>
  (request) =>
    defer(() => {
      const { pod, kill } = request;
      requestKill(request);
      const limitMs = killTimeoutMs(kill.graceSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0);
      const tooLate$ = timer(limitMs, scheduler).pipe(
        map((): never => {
          const message = 'Container runtime did not kill the pod within specified grace period.';
          recordEvent({ pod, type: 'Warning', reason: 'ExceededGracePeriod', message, causes: [] });
          throw new Error('timeout waiting to kill pod');
        }),
      );
      return untilStopped(pod.metadata.uid).pipe(ignoreElements(), alongside(tooLate$));
    });

/** Where managers enter the loop: their requests are one of its inputs. */
export interface PodKills {
  readonly killPod: KillPod;
  /** Hot. Errors: none. Ends: never. */
  readonly kill$: Observable<KillRequest>;
}

interface PodKillsOptions extends Pick<KillPodPorts, 'recordEvent' | 'scheduler'> {
  readonly state: Pick<KubeletState, 'workers' | 'transition$'>;
}

export const podKills = ({ state, recordEvent, scheduler }: PodKillsOptions): PodKills => {
  const kill$ = new Subject<KillRequest>();
  const killPod = killPodNow({
    requestKill: (request) => kill$.next(request),
    untilStopped: untilStopped(state, scheduler),
    recordEvent,
    scheduler,
  });
  return { killPod, kill$ };
};
