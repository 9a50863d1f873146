import type { Observable } from 'rxjs';

/**
 * `watching`: every later signal is received. `shutdown`: the machine shuts down once all locks are released, or after the
 * longest delay. `cancelled`: it does not shut down after all.
 */
export type ShutdownSignal = 'watching' | 'shutdown' | 'cancelled';

/** The number of a lock. The shutdown of the machine is delayed while one is held. */
export type ShutdownLock = number;

/** The service of the machine that shuts it down. Calls are cold. Errors: the service, or the bus to it, is not available. */
export interface ShutdownInhibitor {
  /** Emits once the longest time for which a shutdown waits for locks, in milliseconds. */
  readonly maxDelayMs: () => Observable<number>;
  /**
   * Sets this time, also for later boots, and completes. The service reads its settings again soon after that.
   */
  readonly setMaxDelay: (seconds: number) => Observable<never>;
  /** Emits the lock once it is held. The lock is then the caller's, and ends with the agent at the latest. */
  readonly takeLock: () => Observable<ShutdownLock>;
  /** Releases a lock. A second call has no effect. */
  readonly releaseLock: (lock: ShutdownLock) => void;
  /**
   * Emits `watching` once, and then each signal. Errors: also when the bus closes, and when a lock ends
   * without a release. Ends: never.
   */
  readonly watch: () => Observable<ShutdownSignal>;
}
