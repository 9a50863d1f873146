// Two sources as one: pods come from the first for as long as it answers, and from the second while it does not.
//
// A source that fails is an Observable that errors. The agent would keep the last pods and subscribe again; here somebody
// else has them meanwhile, and the first one is tried again after a while.
//
//     kubelet({ ...options, sources: { fleet: failover(fleet$, fileSource(…), { retryMs: 60_000 }) } })
import { asyncScheduler, catchError, concat, defer, type Observable, of, repeat, takeUntil, timer } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { type SourceEvent, sourceProblem } from 'rx-kubelet';

export interface Failover {
  /** How long the second source has its turn. */
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
