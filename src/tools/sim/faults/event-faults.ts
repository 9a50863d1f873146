import { delay, merge, mergeMap, Observable, of, throwError, timer, switchMap, defer } from 'rxjs';
import type { ContainerEventResponse } from '../../../generated/runtime/v1/api.js';
import { CriError } from '../../../model/cri/cri-error.js';
import type { EventFault } from './fault.js';
import { type ArmedFault, type FaultSide, strikes } from './armed-fault.js';

/** Puts faults into one subscription of the runtime's events. */
export const faultyEvents = (
  armed: readonly ArmedFault<EventFault>[],
  { scheduler, startMs }: FaultSide,
): ((source: Observable<ContainerEventResponse>) => Observable<ContainerEventResponse>) => {
  if (armed.length === 0) return (source) => source;
  const breaks = armed.flatMap(({ fault }) => (fault.kind === 'events-break' ? [startMs + fault.atMs] : []));

  /** The delays of the copies of the event, in milliseconds. */
  const arrivals = (): readonly number[] => {
    let times = 1;
    let lateMs = 0;
    for (const one of armed) {
      if (!isStretched(one) || !strikes(one, scheduler.now() - startMs)) continue;
      const { fault, draw } = one;
      if (fault.kind === 'event-late') lateMs += draw.integer(1, fault.maxMs);
      else times *= fault.kind === 'event-lost' ? 0 : 2;
    }
    return Array.from({ length: times }, () => lateMs);
  };

  return (source) =>
    defer(() => {
      const break$ = merge(
        ...breaks
          .filter((at) => at > scheduler.now())
          .map((at) =>
            timer(at - scheduler.now(), scheduler).pipe(
              switchMap(() =>
                throwError(() => new CriError('unavailable', 'GetContainerEvents', 'broken, as the history has it')),
              ),
            ),
          ),
      );
      const event$ = source.pipe(
        mergeMap((event) =>
          merge(...arrivals().map((lateMs) => (lateMs > 0 ? of(event).pipe(delay(lateMs, scheduler)) : of(event)))),
        ),
      );
      return endingWithFirst(event$, break$);
    });
};

type StretchedFault = Exclude<EventFault, { readonly kind: 'events-break' }>;

const isStretched = (armed: ArmedFault<EventFault>): armed is ArmedFault<StretchedFault> =>
  armed.fault.kind !== 'events-break';

/** The timers of future breaks must not keep an ended stream open. */
const endingWithFirst = <T>(source: Observable<T>, break$: Observable<never>): Observable<T> =>
  new Observable((subscriber) => {
    subscriber.add(break$.subscribe({ error: (error: unknown) => subscriber.error(error) }));
    if (!subscriber.closed) source.subscribe(subscriber);
  });
