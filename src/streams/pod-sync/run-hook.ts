import { concatMap, defer, EMPTY, ignoreElements, type Observable, throwError, timer } from 'rxjs';
import type { LifecycleHandler } from '../../model/pod.js';
import { journaled, type PodSyncContext } from './pod-sync-context.js';

export interface Hook {
  readonly hook: LifecycleHandler;
  readonly containerId: string;
  readonly container: string;
  readonly when: 'postStart' | 'preStop';
}

/**
 * Runs one lifecycle hook and completes when it has ended well.
 *
 * Errors: the hook failed, or is of a kind that this agent does not run.
 * Source: pkg/kubelet/lifecycle/handlers.go
 */
export const runHook = (context: PodSyncContext, { hook, containerId, container, when }: Hook): Observable<never> => {
  const { runtime, scheduler } = context.ports;
  const { exec, sleep } = hook;
  if (exec) {
    const exec$ = defer(() => runtime.execSync({ containerId, cmd: [...(exec.command ?? [])], timeout: 0n })).pipe(
      concatMap(({ exitCode }) => {
        if (exitCode === 0) return EMPTY;
        return throwError(
          () => new HookFailed(`the ${when} command of container ${container} exited with code ${exitCode}`),
        );
      }),
    );
    return journaled(context, 'ExecSync', { target: containerId, container }, exec$);
  }
  if (sleep) return timer(sleep.seconds * 1000, scheduler).pipe(ignoreElements());
  return throwError(
    () =>
      new HookFailed(`the ${when} hook of container ${container} is of a kind that is not run: expected exec or sleep`),
  );
};

export class HookFailed extends Error {
  override readonly name = 'HookFailed';
}
