import { concatMap, EMPTY, type Observable, of, scan, type SchedulerLike } from 'rxjs';
import { errorText } from '../model/cri-error.js';
import { foldRuntimeStatus, type RuntimeState, UNKNOWN_RUNTIME_STATE } from '../model/runtime-state.js';
import { poll } from './operators/poll.js';
import type { Logger, RuntimeService } from './ports.js';

/** Source: pkg/kubelet/kubelet.go Run, updateRuntimeUp. Milliseconds. */
export const RUNTIME_STATUS_PERIOD_MS = 5_000;

/** Longer than the runtime's own deadline for the call: only a runtime port that has none is cut off. Milliseconds. */
const STATUS_TIMEOUT_MS = 300_000;

/**
 * Emits what the runtime says of itself, at once and then 5 s after each answer. One that does not come is said and leaves the
 * state alone, which grows old.
 *
 * Errors: none.
 * Ends:   never.
 */
export const runtimeStates = ({
  runtime,
  log,
  scheduler,
}: {
  readonly runtime: Pick<RuntimeService, 'status'>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}): Observable<RuntimeState> =>
  poll(() => runtime.status({}), {
    periodMs: RUNTIME_STATUS_PERIOD_MS,
    timeoutMs: STATUS_TIMEOUT_MS,
    scheduler,
  }).pipe(
    concatMap((polled) => {
      if (polled.kind === 'ok') return of(polled.value);
      log.warn({ error: errorText(polled.error) }, 'the runtime does not tell its status');
      return EMPTY;
    }),
    scan((state, status) => foldRuntimeStatus(state, status, scheduler.now()), UNKNOWN_RUNTIME_STATE),
  );
