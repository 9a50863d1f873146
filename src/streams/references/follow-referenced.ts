import { defer, map, type Observable, retry, type SchedulerLike, tap, throwError, timer } from 'rxjs';
import { isForbidden } from '../../model/kube-api/api-error.js';
import type { ReferencedObject } from '../../model/references/referenced-object.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { Logger } from '../ports/logger.js';

/**
 * The waits after refusals at the start, in milliseconds: the server may not have seen yet that the pod of the object is on this node.
 * The usual wait of the reflector is longer than the wait of a container for its objects.
 */
export const GRANT_LAG_MS: readonly number[] = [25, 100, 400];

export interface FollowReferencedOptions {
  /** For the log: `secret default/keys`. */
  readonly name: string;
  readonly scheduler: SchedulerLike;
  readonly log: Logger;
}

/**
 * Watches an object for which this node may just have got its permission. Failures are logged, except refusals at the start, which
 * are retried after `GRANT_LAG_MS`.
 *
 * Errors: none.
 * Ends:   never.
 */
export const followReferenced = <T extends ReferencedObject>(
  /** A reflector that logs nothing by itself. */
  event$: Observable<ReflectorEvent<T>>,
  { name, scheduler, log }: FollowReferencedOptions,
): Observable<ReflectorEvent<T>> =>
  defer(() => {
    let lags = GRANT_LAG_MS;
    return event$.pipe(
      map((event) => {
        if (lags.length > 0 && event.kind === 'problem' && isForbidden(event.error)) throw new NotGrantedYet();
        // Any other event shows that the server knows the pod.
        lags = [];
        return event;
      }),
      retry({
        delay: (error: unknown) => {
          if (!(error instanceof NotGrantedYet)) return throwError(() => error);
          const [lagMs = 0, ...later] = lags;
          lags = later;
          return timer(lagMs, scheduler);
        },
      }),
      tap((event) => {
        if (event.kind === 'recovered') log.info({ name }, 'an object of the API server is watched again');
        if (event.kind !== 'problem') return;
        const { severity, step, error } = event;
        const level = severity === 'warning' ? 'warn' : severity;
        log[level]({ name, step, error: errorText(error) }, 'cannot watch an object of the API server');
      }),
    );
  });

class NotGrantedYet extends Error {
  override readonly name = 'NotGrantedYet';
}
