import { type Observable, type SchedulerLike, takeUntil, timer } from 'rxjs';

/** Source: staging/src/k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go */
export const ECHO_MS = 10_000;

/** Passes a refusal of the runtime on to the client, for 10 s at most: the rest of a longer copy is cut off. */
export const echoRefusal = <T>(copy$: Observable<T>, scheduler: SchedulerLike): Observable<T> =>
  copy$.pipe(takeUntil(timer(ECHO_MS, scheduler)));
