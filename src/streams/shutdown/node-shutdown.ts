import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  type SchedulerLike,
  tap,
} from 'rxjs';
import type { Pod } from '../../model/pod/pod.js';
import type { ShutdownGroup } from '../../model/shutdown/shutdown-groups.js';
import { shutdownStatus } from '../../model/shutdown/shutdown-status.js';
import type { KillPod } from '../pod-workers/kill-pod-now.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { ShutdownInhibitor } from '../ports/shutdown-inhibitor.js';
import { noShutdownStates, type ShutdownStates } from '../ports/shutdown-states.js';
import type { WallClock } from '../ports/wall-clock.js';
import { activePods } from '../sync-loop/active-pods.js';
import type { StopRequest } from '../sync-loop/handle-stop.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { shutdownManager } from './shutdown-manager.js';
import { stopGroups, type StopPod } from './stop-groups.js';
import { untilUnmounted } from './until-unmounted.js';

export interface NodeShutdownOptions {
  /** Lowest priority first. Without any, pods are stopped at once, and a shutdown of the machine is not noticed. */
  readonly groups: readonly ShutdownGroup[];
  readonly shutdownInhibitor?: ShutdownInhibitor;
  readonly shutdownStates?: ShutdownStates;
  readonly state: KubeletState;
  readonly killPod: KillPod;
  readonly metrics: Metrics;
  readonly recordEvent: RecordEvent;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** The ends of all pods in the order of their groups: with the machine, or with the agent. */
export interface NodeShutdown {
  /** Stops the pods when the machine shuts down, and says so in the state. Emits nothing. Errors: none. */
  readonly shutdown$: Observable<never>;
  /** Delays a request to stop every pod until the groups are stopped, so that it meets what is left. */
  readonly stopInOrder: MonoTypeOperatorFunction<StopRequest>;
}

export const nodeShutdown = (options: NodeShutdownOptions): NodeShutdown => {
  const { groups, shutdownInhibitor: inhibitor, shutdownStates: states = noShutdownStates } = options;
  const { state, killPod, log, scheduler, wallClock } = options;
  const unmounted = untilUnmounted(state);
  const active = (): readonly Pod[] => activePods(state);
  const stopPods = (stopPod: StopPod): Observable<never> =>
    defer(() => stopGroups(groups, active(), { stopPod, untilUnmounted: unmounted, log, scheduler }));

  const stopForShutdown: StopPod = (pod, graceSeconds) => {
    const kill = { graceSeconds, statusOverride: shutdownStatus(pod, wallClock()) };
    return killPod({ pod, kill, reason: 'the node shuts down' });
  };
  const manager$ = inhibitor
    ? shutdownManager({ ...options, inhibitor, states, activePods: active, stopPods$: stopPods(stopForShutdown) })
    : EMPTY;

  // The pods go on with the next start of the agent, so their statuses say nothing about their end.
  const stopFor =
    ({ reason, graceSeconds: longest = Infinity }: StopRequest): StopPod =>
    (pod, graceSeconds) =>
      killPod({ pod, kill: { graceSeconds: Math.min(graceSeconds, longest) }, reason });
  return {
    shutdown$:
      groups.length === 0
        ? EMPTY
        : manager$.pipe(
            tap((isShuttingDown) => state.apply({ kind: 'shutdown-noticed', isShuttingDown })),
            ignoreElements(),
          ),
    stopInOrder: (request$) =>
      groups.length === 0
        ? request$
        : request$.pipe(mergeMap((request) => concat(stopPods(stopFor(request)), [request]))),
  };
};
