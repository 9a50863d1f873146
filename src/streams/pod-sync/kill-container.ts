import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  type Observable,
  of,
  race,
  ReplaySubject,
  share,
  take,
  timer,
} from 'rxjs';
import { errorText, isCriError } from '../../model/cri/cri-error.js';
import type { KillReason } from '../../model/pod-actions/pod-actions.js';
import { isFailure } from '../../model/pod-actions/stopping.js';
import type { Container, Pod } from '../../model/pod/pod.js';
import { alongside } from '../operators/alongside.js';
import { markStop } from './begun-stops.js';
import { emitEvent, journaled, type PodSyncContext } from './pod-sync-context.js';
import { runHook } from './run-hook.js';

/** Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go minimumGracePeriodInSeconds */
export const MINIMUM_GRACE_SECONDS = 2;

export interface ContainerKill {
  readonly id: string;
  readonly name: string;
  /** Absent if the spec has no such container any more. */
  readonly container?: Container;
  /** Text of the Killing event. */
  readonly message?: string;
  readonly reason?: KillReason;
  /** Replaces the pod's grace period; 0 and 1 still become the minimum. Seconds. */
  readonly graceSeconds?: number;
  /** The container has failed by itself, as after a hook: its end counts as a crash. A failed probe is such a `reason` already. */
  readonly hasFailed?: boolean;
  /** Addresses of the pod, for its preStop hook. */
  readonly podIps?: readonly string[];
  /** Completes when it is this container's turn to stop; it is stopped anyway when its grace period is over. */
  readonly turn$?: Observable<unknown>;
}

/**
 * Marks the stop unless the container has failed, runs the preStop hook, waits for the container's turn, then stops it within what is left of
 * its grace period. Completes when it has stopped. A hook that takes longer than the grace period does not delay the stop: it goes on beside the stop
 * and ends with it.
 *
 * Errors: the runtime's, except that a container it does not know has stopped.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go killContainer
 */
export const killContainer = (context: PodSyncContext, kill: ContainerKill): Observable<never> =>
  defer(() => {
    const { id, name } = kill;
    emitEvent(context, 'Normal', 'Killing', kill.message ?? `Stopping container ${name}`, name);
    const hasFailed = kill.hasFailed ?? isFailure(kill.reason);
    return concat(hasFailed ? EMPTY : markStop(context, id), hookAndStop(context, kill));
  });

const hookAndStop = (context: PodSyncContext, kill: ContainerKill): Observable<never> =>
  defer(() => {
    const { scheduler, runtime } = context.ports;
    const { id, name, container } = kill;
    const graceSeconds = kill.graceSeconds ?? naturalGraceSeconds(context.pod, container, kill.reason);
    const startedAt = scheduler.now();
    /** Only whole seconds count as spent. */
    const left = () => graceSeconds - Math.floor((scheduler.now() - startedAt) / 1000);
    const hook$ = graceSeconds > 0 ? preStop(context, kill) : EMPTY;
    const stop$ = concat(
      withinGrace(hook$, left, context),
      kill.turn$ ? withinGrace(kill.turn$, left, context) : EMPTY,
      defer(() => {
        const timeout = Math.max(left(), MINIMUM_GRACE_SECONDS);
        const stop$ = runtime.stopContainer({ containerId: id, timeout: BigInt(timeout) });
        return journaled(context, 'StopContainer', { target: id, container: name, usualMs: timeout * 1000 }, stop$);
      }).pipe(
        ignoreElements(),
        catchError((error: unknown) => {
          if (isCriError(error, 'not-found')) return EMPTY;
          throw error;
        }),
      ),
    );
    return stop$.pipe(alongside(hook$));
  });

/** The container's preStop hook, if it has one. It runs once, for all subscribers. Errors: none; a failure is an event. */
const preStop = (context: PodSyncContext, { id, name, container, podIps = [] }: ContainerKill): Observable<never> => {
  const hook = container?.lifecycle?.preStop;
  if (!hook) return EMPTY;
  return runHook(context, { hook, containerId: id, container, podIps }).pipe(
    catchError(() => {
      emitEvent(context, 'Warning', 'FailedPreStopHook', 'PreStopHook failed', name);
      return EMPTY;
    }),
    share({ connector: () => new ReplaySubject<never>(1), resetOnComplete: false }),
  );
};

/** Ends with `work$`, or with the grace period, whichever is first. */
const withinGrace = (
  work$: Observable<unknown>,
  left: () => number,
  { ports: { scheduler } }: PodSyncContext,
): Observable<never> =>
  defer(() =>
    left() > 0
      ? race(concat(work$.pipe(ignoreElements()), of(true)), timer(left() * 1000, scheduler)).pipe(
          take(1),
          ignoreElements(),
        )
      : EMPTY,
  );

/** Seconds. A probe that failed may bring its own; an API deletion overrides the spec. */
export const naturalGraceSeconds = (
  pod: Pod,
  container: Container | undefined,
  reason: KillReason | undefined,
): number => {
  const { deletionGracePeriodSeconds } = pod.metadata;
  if (deletionGracePeriodSeconds !== undefined) return deletionGracePeriodSeconds;
  const { terminationGracePeriodSeconds } = pod.spec;
  if (terminationGracePeriodSeconds === undefined) return MINIMUM_GRACE_SECONDS;
  const ofProbe =
    reason === 'LivenessProbe'
      ? container?.livenessProbe?.terminationGracePeriodSeconds
      : reason === 'StartupProbe'
        ? container?.startupProbe?.terminationGracePeriodSeconds
        : undefined;
  return ofProbe ?? terminationGracePeriodSeconds;
};

/** The text of a failed kill. */
export const killFailure = (name: string, error: unknown): string =>
  `failed to kill container ${name}: ${errorText(error)}`;
