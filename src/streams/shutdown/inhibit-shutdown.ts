import {
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  last,
  type Observable,
  repeat,
  type SchedulerLike,
  takeWhile,
  tap,
  timer,
} from 'rxjs';
import type { ShutdownInhibitor, ShutdownLock } from '../ports/shutdown-inhibitor.js';

/** The reads of the longest delay after it was set. Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go start */
export const DELAY_READS = 5;
/** The time between the first two of these reads, in milliseconds; it doubles with each read. */
export const DELAY_READ_MS = 100;

/**
 * Sees to it that the machine delays its shutdown for `seconds`, and completes. A longer delay stays. A shorter one is
 * set, and read again until the machine has it: at once, and after 100, 300, 700 and 1500 ms.
 *
 * Errors: those of the calls; the delay is still too short at the last read.
 */
export const ensureMaxDelay = (
  { maxDelayMs, setMaxDelay }: Pick<ShutdownInhibitor, 'maxDelayMs' | 'setMaxDelay'>,
  { seconds, scheduler }: { readonly seconds: number; readonly scheduler: SchedulerLike },
): Observable<never> => {
  const isTooShort = (delayMs: number): boolean => delayMs < seconds * 1_000;
  const reread$ = defer(maxDelayMs).pipe(
    repeat({ count: DELAY_READS, delay: (reads) => timer(DELAY_READ_MS * 2 ** (reads - 1), scheduler) }),
    takeWhile(isTooShort, true),
    last(),
    tap((delayMs) => {
      if (!isTooShort(delayMs)) return;
      throw new Error(
        `a shutdown of the machine waits at most ${delayMs / 1_000} s (expected ${seconds} s, which was set but is not in effect after ${DELAY_READS} reads)`,
      );
    }),
  );
  return defer(maxDelayMs).pipe(
    concatMap((delayMs) => (isTooShort(delayMs) ? concat(setMaxDelay(seconds), reread$) : EMPTY)),
    ignoreElements(),
  );
};

/** The lock of one life of the agent. */
export interface HeldLock {
  /** Takes a lock and completes. An earlier one is released once the new one is held. Errors: that of the port. */
  readonly take$: Observable<never>;
  readonly release: () => void;
}

export const heldLock = ({ takeLock, releaseLock }: Pick<ShutdownInhibitor, 'takeLock' | 'releaseLock'>): HeldLock => {
  let held: ShutdownLock | undefined;
  const keep = (next: ShutdownLock | undefined): void => {
    const earlier = held;
    held = next;
    if (earlier !== undefined) releaseLock(earlier);
  };
  return {
    take$: defer(takeLock).pipe(tap(keep), ignoreElements()),
    release: () => keep(undefined),
  };
};
