import {
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
  repeat,
  type SchedulerLike,
  Subject,
  take,
  tap,
  timer,
} from 'rxjs';
import { exhaustMapLatest } from '../operators/exhaust-map-latest.js';
import { tapLate } from '../operators/tap-late.js';
import type { KnownPods, LastKnown } from '../ports.js';

/** A new pod waits so long for the disk, and for no disk that is known to take longer. */
export const DISK_LIMIT_MS = 1_000;
/** From the start of a write to the start of the next, unless a new pod waits for it. */
export const KEEP_PERIOD_MS = 1_000;
/** After a write that failed. */
export const KEEP_RETRY_MS = 10_000;

/** Pods that may be acted on, or how writing them down goes. */
export type KeptPods =
  | { readonly kind: 'pods'; readonly known: KnownPods }
  | { readonly kind: 'not-kept'; readonly error: unknown }
  | { readonly kind: 'kept' };

/**
 * Writes pods down, and passes them on at once but for sets with a pod that is not on disk: these wait until it is. So an agent that
 * dies finds every pod again that it had begun, and every other change is on disk soon after. There is one write at a time, of the newest set.
 *
 * A disk that has not written for a second delays nothing: that a pod starts late, and others behind it, would be the more certain
 * harm than that the agent dies just then while the API server is away.
 *
 * Errors: none; a write that fails is a value, delays nothing and is tried again.
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
      let unwritten: KnownPods | undefined;
      /** Pods of the last write that has ended: one that failed will not do better for being waited for. */
      let tried: ReadonlySet<string> = new Set(onDisk);
      let nextAt = -Infinity;
      let isLate = false;
      const turn$ = new Subject<void>();
      const hurry$ = new Subject<void>();
      /** A write has ended, or a newer set has come. */
      const change$ = new Subject<void>();
      let wanted: ReadonlySet<string> = new Set();
      const isNew = ({ pods }: KnownPods): boolean => pods.some(({ metadata }) => !tried.has(metadata.uid));
      /** It has a new pod that is still wanted. */
      const isHeld = ({ pods }: KnownPods): boolean =>
        pods.some(({ metadata: { uid } }) => wanted.has(uid) && !tried.has(uid));

      const write$ = defer((): Observable<KeptPods> => {
        if (!unwritten) return EMPTY;
        const known = unwritten;
        unwritten = undefined;
        nextAt = scheduler.now() + KEEP_PERIOD_MS;
        return concat(writePods(known), of<KeptPods>({ kind: 'kept' })).pipe(
          catchError((error: unknown) => {
            unwritten ??= known;
            nextAt = scheduler.now() + KEEP_RETRY_MS;
            return of<KeptPods>({ kind: 'not-kept', error });
          }),
          tapLate(DISK_LIMIT_MS, () => (isLate = true), scheduler),
          tap(() => {
            isLate = false;
            tried = new Set(known.pods.map(({ metadata }) => metadata.uid));
            change$.next();
          }),
        );
      });
      const nextWrite$ = defer(() => {
        const waitMs = nextAt - scheduler.now();
        if (waitMs <= 0 || (unwritten && isNew(unwritten))) return write$;
        return concat(merge(timer(waitMs, scheduler), hurry$).pipe(take(1), ignoreElements()), write$);
      });
      const writing$ = turn$.pipe(
        exhaustMap(() => nextWrite$.pipe(repeat({ delay: () => (unwritten ? of(true) : EMPTY) }))),
      );

      const passed$ = source.pipe(
        tap((known) => {
          unwritten = known;
          wanted = new Set(known.pods.map(({ metadata }) => metadata.uid));
          change$.next();
          if (isNew(known)) hurry$.next();
          turn$.next();
        }),
        exhaustMapLatest((known) => {
          if (isLate || !isHeld(known)) return of(known);
          const released$ = change$.pipe(filter(() => !isHeld(known)));
          return concat(merge(released$, timer(DISK_LIMIT_MS, scheduler)).pipe(take(1), ignoreElements()), of(known));
        }),
        map((known): KeptPods => ({ kind: 'pods', known })),
      );
      return merge(writing$, passed$);
    });
