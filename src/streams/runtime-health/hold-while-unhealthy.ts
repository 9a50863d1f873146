import { map, merge, type MonoTypeOperatorFunction, type Observable, type SchedulerLike } from 'rxjs';
import type { Wake } from '../../model/pod-workers/wake.js';
import { gate } from '../operators/gate.js';
import type { RuntimeHealth } from './runtime-health.js';

export interface HoldOptions {
  readonly health: Pick<RuntimeHealth, 'check$' | 'state$'>;
  /** Emits with each relist. */
  readonly relist$: Observable<unknown>;
  readonly scheduler: SchedulerLike;
}

/** The waits between two checks of an unhealthy runtime. */
export const HOLD_BACKOFF = { initialMs: 100, maxMs: 5_000 };

/**
 * Holds wakes of pod workers while the runtime is unhealthy, one per pod. Checks the health again after each wait of
 * `HOLD_BACKOFF`, and at once after a relist or a status of the runtime.
 *
 * Source: pkg/kubelet/kubelet.go syncLoop
 */
export const holdWhileUnhealthy = ({ health, relist$, scheduler }: HoldOptions): MonoTypeOperatorFunction<Wake> =>
  gate({
    isOpen$: health.check$.pipe(map((problem) => problem === undefined)),
    keyOf: ({ uid }) => uid,
    fold: foldWakes,
    ...HOLD_BACKOFF,
    nudge$: merge(health.state$, relist$),
    scheduler,
  });

/** The newer of two wakes; it cancels the sync in progress if either of them does. */
const foldWakes = (held: Wake, wake: Wake): Wake => ({ ...wake, cancel: held.cancel || wake.cancel });
