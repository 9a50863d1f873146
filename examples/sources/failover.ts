// Two sources as one: pods come from the first while it works, and from the second while it does not.
//
// A source that fails is an Observable that errors. The agent would keep its last pods and subscribe again; here the second source
// delivers the pods meanwhile, and the first one is retried after a while.
//
//     kubelet({ ...options, sources: { fleet: failover(fleet$, fileSource(…), { retryMs: 60_000 }) } })
import { asyncScheduler, catchError, concat, defer, type Observable, of, repeat, takeUntil, timer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { type SourceEvent, sourceProblem } from 'rx-kubelet';

export interface Failover {
  /** The time until the first source is retried, in milliseconds. */
  readonly retryMs: number;
  readonly scheduler?: SchedulerLike;
}

export const failover = (
  first$: Observable<SourceEvent>,
  second$: Observable<SourceEvent>,
  { retryMs, scheduler = asyncScheduler }: Failover,
): Observable<SourceEvent> =>
  defer(() => first$).pipe(
    catchError((error: unknown) =>
      concat(
        of(sourceProblem({ severity: 'warning', message: `the second source takes over: ${String(error)}` })),
        second$.pipe(takeUntil(timer(retryMs, scheduler))),
      ),
    ),
    repeat(),
  );
