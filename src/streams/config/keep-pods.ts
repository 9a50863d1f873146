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
  type SchedulerLike,
  Subject,
  take,
  tap,
  timer,
} from 'rxjs';
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
      let unwritten: KnownPods | undefined;
      /** The pods of the last write that has ended. A failed write counts too, since waiting would not mend it. */
      let tried: ReadonlySet<string> = new Set(onDisk);
      let nextAt = -Infinity;
      let isLate = false;
      const turn$ = new Subject<void>();
      const hurry$ = new Subject<void>();
      /** Emits when a write has ended, and when a newer set has arrived. */
      const change$ = new Subject<void>();
      let wanted: ReadonlySet<string> = new Set();
      const isNew = ({ pods }: KnownPods): boolean => pods.some(({ metadata }) => !tried.has(metadata.uid));
      /** The set has a new pod that is still wanted. */
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
          tapIfSlow(DISK_LIMIT_MS, () => (isLate = true), scheduler),
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
      const writing$ = turn$.pipe(exhaustMap(() => nextWrite$.pipe(repeatWhile(() => unwritten !== undefined))));

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
