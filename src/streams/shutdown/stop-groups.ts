import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  merge,
  type Observable,
  type SchedulerLike,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { formatPod, type Pod } from '../../model/pod/pod.js';
import { groupLimitMs, groupPods, type PodGroup, shutdownGraceSeconds } from '../../model/shutdown/group-pods.js';
import type { ShutdownGroup } from '../../model/shutdown/shutdown-groups.js';
import type { Logger } from '../ports/logger.js';

/** Stops a pod and completes once its containers have stopped. Errors: they have not in time; the stop goes on. */
export type StopPod = (pod: Pod, graceSeconds: number) => Observable<unknown>;

export interface StopGroupsPorts {
  readonly stopPod: StopPod;
  /** Completes once no volume of the pod is mounted: at once, if none is. Errors: they are not unmounted in time. */
  readonly untilUnmounted: (pod: Pod) => Observable<unknown>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/**
 * Stops pods group by group, the lowest priority first, and completes. The pods of a group are stopped side by side; the next
 * group begins when all of them have stopped and then all their volumes are unmounted, or after the time of the group. A group
 * without pods takes no time, and one of 0 seconds is not waited for.
 *
 * Errors: none; a pod that does not stop in time is logged, and its stop goes on.
 * Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go killPods
 */
export const stopGroups = (
  groups: readonly ShutdownGroup[],
  pods: readonly Pod[],
  ports: StopGroupsPorts,
): Observable<never> => concat(...groupPods(groups, pods).map((group) => stopGroup(group, ports)));

const stopGroup = (group: PodGroup, ports: StopGroupsPorts): Observable<never> =>
  defer(() => {
    const { log, scheduler } = ports;
    const { priority, graceSeconds, pods } = group;
    const waiting = new Set(pods);
    const stops = pods.map((pod) => stopOne(group, pod, ports).pipe(tap({ complete: () => waiting.delete(pod) })));
    const unmounted$ = defer(() => merge(...pods.map((pod) => unmounted(pod, ports))));
    const limit$ = timer(groupLimitMs(group), scheduler).pipe(
      tap(() => {
        const late = { priority, graceSeconds, waitsFor: [...waiting].map(formatPod) };
        log.warn(late, 'the time of a group of pods is over, and the next one is stopped');
      }),
    );
    // The timer fires after the pods have got their requests, also that of a group of 0 seconds.
    return concat(merge(...stops), unmounted$).pipe(takeUntil(limit$));
  });

/** Stops a pod and completes, whether it has stopped or not. Errors: none. */
const stopOne = (group: PodGroup, pod: Pod, { stopPod, log }: StopGroupsPorts): Observable<never> =>
  defer(() => {
    const graceSeconds = shutdownGraceSeconds(group, pod);
    log.info({ pod: formatPod(pod), graceSeconds }, 'a pod is stopped in its group');
    return stopPod(pod, graceSeconds);
  }).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      log.warn({ pod: formatPod(pod), error: errorText(error) }, 'a pod has not stopped in the time of its group');
      return EMPTY;
    }),
  );

/**
 * Completes when the volumes of a pod are unmounted, or cannot be. The next group may have the driver of the volumes.
 * Errors: none.
 */
const unmounted = (pod: Pod, { untilUnmounted, log }: StopGroupsPorts): Observable<never> =>
  defer(() => untilUnmounted(pod)).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      log.warn({ pod: formatPod(pod), error: errorText(error) }, 'the volumes of a stopped pod are not unmounted');
      return EMPTY;
    }),
  );
