import {
  BehaviorSubject,
  catchError,
  concat,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  type OperatorFunction,
  type SchedulerLike,
  take,
  tap,
  timer,
} from 'rxjs';
import {
  foldPodsOnDisk,
  isWriteUrgent,
  podsOnDisk,
  type PodsOnDiskEvent,
  waitBeforeWrite,
  waitsForDisk,
} from '../../model/config/pods-on-disk.js';
import { repeatWhile } from '../operators/repeat-while.js';
import { exhaustMapLatest } from '../operators/exhaust-map-latest.js';
import { tapIfSlow } from '../operators/tap-if-slow.js';
import type { KnownPods, LastKnown } from '../ports/last-known.js';

/** The longest time that a new pod waits for the disk, in milliseconds. While a write is later than that, no pod waits. */
export const DISK_LIMIT_MS = 1_000;
/** The time from the start of a write to the start of the next, in milliseconds, unless a new pod waits. */
export const KEEP_PERIOD_MS = 1_000;
/** The time from a failed write to the next, in milliseconds, unless a new pod waits. */
export const KEEP_RETRY_MS = 10_000;

/** Pods that may be started, or the result of a write. */
export type KeptPods =
  | { readonly kind: 'pods'; readonly known: KnownPods }
  | { readonly kind: 'not-kept'; readonly error: unknown }
  | { readonly kind: 'kept' };

/**
 * Writes sets of pods to disk and emits them. A set with a pod that is not on disk waits for the write; every other set is emitted at once.
 * So an agent that is killed finds every started pod on disk, and other changes are on disk soon after. One write runs at a time, of
 * the newest set.
 *
 * A write that takes more than a second delays no pod: a late start harms more than the rare loss of a pod from the disk.
 *
 * Errors: none; a failed write is a value, delays no pod and is retried.
 * Ends:   never.
 */
export const keepPods =
  (
    writePods: LastKnown['writePods'],
    /** UIDs of the pods that are on disk to begin with. */
    onDisk: Iterable<string>,
    scheduler: SchedulerLike,
  ): OperatorFunction<KnownPods, KeptPods> =>
  (source) =>
    defer(() => {
      // The loop closes here: sets and the ends of writes change the state, and the state decides about the next write.
      const state$ = new BehaviorSubject(podsOnDisk<KnownPods>(onDisk));
      const apply = (event: PodsOnDiskEvent<KnownPods>): void => state$.next(foldPodsOnDisk(state$.value, event));

      const write$ = defer((): Observable<KeptPods> => {
        const { newest: known } = state$.value;
        if (!known) return EMPTY;
        apply({ kind: 'write-begun', nextAt: scheduler.now() + KEEP_PERIOD_MS });
        return concat(writePods(known), of<KeptPods>({ kind: 'kept' })).pipe(
          catchError((error: unknown) => of<KeptPods>({ kind: 'not-kept', error })),
          tapIfSlow(DISK_LIMIT_MS, () => apply({ kind: 'write-late' }), scheduler),
          tap(({ kind }) =>
            apply(
              kind === 'kept'
                ? { kind: 'written', known }
                : { kind: 'write-failed', known, nextAt: scheduler.now() + KEEP_RETRY_MS },
            ),
          ),
        );
      });
      const nextWrite$ = defer(() => {
        const waitMs = waitBeforeWrite(state$.value, scheduler.now());
        if (waitMs === 0) return write$;
        const turn$ = merge(timer(waitMs, scheduler), state$.pipe(filter(isWriteUrgent)));
        return concat(turn$.pipe(take(1), ignoreElements()), write$);
      });
      const writing$ = state$.pipe(
        filter(({ isUnwritten }) => isUnwritten),
        exhaustMap(() => nextWrite$.pipe(repeatWhile(() => state$.value.isUnwritten))),
      );

      const passed$ = source.pipe(
        tap((known) => apply({ kind: 'arrived', known })),
        exhaustMapLatest((known) => {
          if (state$.value.isLate) return of(known);
          const released$ = state$.pipe(filter((state) => !waitsForDisk(state, known)));
          return concat(merge(released$, timer(DISK_LIMIT_MS, scheduler)).pipe(take(1), ignoreElements()), of(known));
        }),
        map((known): KeptPods => ({ kind: 'pods', known })),
      );
      return merge(writing$, passed$);
    });
