import { catchError, concat, defer, EMPTY, ignoreElements, type Observable, of, race, take, timer } from 'rxjs';
import { errorText, isCriError } from '../../model/cri-error.js';
import type { KillReason } from '../../model/pod-actions.js';
import type { Container, Pod } from '../../model/pod.js';
import { emitEvent, journaled, type PodSyncContext } from './pod-sync-context.js';
import { runHook } from './run-hook.js';

/** Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go minimumGracePeriodInSeconds */
export const MINIMUM_GRACE_SECONDS = 2;

export interface ContainerKill {
  readonly id: string;
  readonly name: string;
  /** Absent when no spec knows the container any more. */
  readonly container?: Container;
  /** Text of the Killing event. */
  readonly message?: string;
  readonly reason?: KillReason;
  /** Replaces what the pod asks for; 0 and 1 still become the minimum. Seconds. */
  readonly graceSeconds?: number;
  /** Completes when it is this container's turn to stop; it is stopped anyway when its grace period is over. */
  readonly turn$?: Observable<unknown>;
}

/**
 * Runs the preStop hook, waits for the container's turn, then stops it within what is left of its grace period.
 * Completes when it has stopped.
 *
 * Errors: the runtime's, except that a container it does not know has stopped.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go killContainer
 */
export const killContainer = (context: PodSyncContext, kill: ContainerKill): Observable<never> =>
  defer(() => {
    const { scheduler, runtime } = context.ports;
    const { id, name, container } = kill;
    emitEvent(context, 'Normal', 'Killing', kill.message ?? `Stopping container ${name}`, name);
    const graceSeconds = kill.graceSeconds ?? naturalGraceSeconds(context.pod, container, kill.reason);
    const startedAt = scheduler.now();
    /** Only whole seconds count as spent. */
    const left = () => graceSeconds - Math.floor((scheduler.now() - startedAt) / 1000);
    const hook = container?.lifecycle?.preStop;
    return concat(
      hook && graceSeconds > 0 ? withinGrace(runPreStop(context, kill, hook), left, context) : EMPTY,
      kill.turn$ ? withinGrace(kill.turn$, left, context) : EMPTY,
      defer(() => {
        const timeout = Math.max(left(), MINIMUM_GRACE_SECONDS);
        const stop$ = runtime.stopContainer({ containerId: id, timeout: BigInt(timeout) });
        return journaled(context, 'StopContainer', { target: id, container: name }, stop$);
      }).pipe(
        ignoreElements(),
        catchError((error: unknown) => {
          if (isCriError(error, 'not-found')) return EMPTY;
          throw error;
        }),
      ),
    );
  });

const runPreStop = (
  context: PodSyncContext,
  { id, name }: ContainerKill,
  hook: NonNullable<NonNullable<Container['lifecycle']>['preStop']>,
): Observable<never> =>
  runHook(context, { hook, containerId: id, container: name, when: 'preStop' }).pipe(
    catchError(() => {
      emitEvent(context, 'Warning', 'FailedPreStopHook', 'PreStopHook failed', name);
      return EMPTY;
    }),
  );

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

/** What a failed kill is called in messages. */
export const killFailure = (name: string, error: unknown): string =>
  `failed to kill container ${name}: ${errorText(error)}`;
