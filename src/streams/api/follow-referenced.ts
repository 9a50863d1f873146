import { defer, map, type Observable, retry, type SchedulerLike, tap, throwError, timer } from 'rxjs';
import { isForbidden } from '../../model/api/api-error.js';
import type { ReferencedObject } from '../../model/api/referenced-object.js';
import type { ReflectorEvent } from '../../model/api/reflector-event.js';
import { errorText } from '../../model/cri-error.js';
import type { Logger } from '../ports.js';

/**
 * A server that refuses an object at first is asked again after so long: it may not have seen yet that the pod that names it is on
 * this node. The reflector's usual wait is longer than a container waits for its objects.
 */
export const GRANT_LAG_MS: readonly number[] = [25, 100, 400];

export interface FollowReferencedOptions {
  /** For the log: `secret default/keys`. */
  readonly name: string;
  readonly scheduler: SchedulerLike;
  readonly log: Logger;
}

/**
 * Follows an object of which the server may learn only now that this node may have it. What goes wrong is logged, but for what is
 * refused in the first moments.
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
        // Whatever else it says, it is not that it does not know the pod.
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
        if (event.kind === 'recovered') log.info({ name }, 'an object of the API server is followed again');
        if (event.kind !== 'problem') return;
        const { severity, step, error } = event;
        const level = severity === 'warning' ? 'warn' : severity;
        log[level]({ name, step, error: errorText(error) }, 'following an object of the API server has failed');
      }),
    );
  });

class NotGrantedYet extends Error {
  override readonly name = 'NotGrantedYet';
}
