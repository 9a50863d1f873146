import { concatMap, EMPTY, type Observable, of, type SchedulerLike } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { RuntimeStatus } from '../../model/runtime-health/runtime-state.js';
import { poll } from '../operators/poll.js';
import type { Logger } from '../ports/logger.js';
import type { RuntimeService } from '../ports/runtime-service.js';

/** Source: pkg/kubelet/kubelet.go Run, updateRuntimeUp. Milliseconds. */
export const RUNTIME_STATUS_PERIOD_MS = 5_000;

/** Longer than the deadline of the CRI client: cancels the call only for a port without a deadline. Milliseconds. */
const STATUS_TIMEOUT_MS = 300_000;

/**
 * Reads the status of the runtime at once and then 5 s after each reply, and emits it. A failed call is logged and emits nothing: the
 * last ready status grows old.
 *
 * Errors: none.
 * Ends:   never.
 */
export const runtimeStatuses = ({
  runtime,
  log,
  scheduler,
}: {
  readonly runtime: Pick<RuntimeService, 'status'>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}): Observable<RuntimeStatus> =>
  poll(() => runtime.status({}), {
    periodMs: RUNTIME_STATUS_PERIOD_MS,
    timeoutMs: STATUS_TIMEOUT_MS,
    scheduler,
  }).pipe(
    concatMap((polled) => {
      if (polled.kind === 'ok') return of(polled.value);
      log.warn({ error: errorText(polled.error) }, 'cannot read the status of the runtime');
      return EMPTY;
    }),
  );
