import { ignoreElements, type Observable, type SchedulerLike, tap } from 'rxjs';
import { errorText } from '../model/cri-error.js';
import { foldRuntimeStatus, type RuntimeState, UNKNOWN_RUNTIME_STATE } from '../model/runtime-state.js';
import { poll } from './operators/poll.js';
import type { Logger, RuntimeService } from './ports.js';

/** Source: pkg/kubelet/kubelet.go Run, updateRuntimeUp. Milliseconds. */
export const RUNTIME_STATUS_PERIOD_MS = 5_000;

/** Longer than the runtime's own deadline for the call: only a runtime port that has none is cut off. Milliseconds. */
const STATUS_TIMEOUT_MS = 300_000;

/** Where the newest state of the runtime is to be found. */
export interface RuntimeWatch {
  state: RuntimeState;
}

export const newRuntimeWatch = (): RuntimeWatch => ({ state: UNKNOWN_RUNTIME_STATE });

/**
 * Asks the runtime how it is, at once and then 5 s after each answer, and keeps `watch` up to date. Emits nothing. An answer that
 * does not come leaves the state alone: it grows old.
 *
 * Errors: none; a failed call is said.
 * Ends:   never.
 */
export const watchRuntimeState = (
  watch: RuntimeWatch,
  {
    runtime,
    log,
    scheduler,
  }: { readonly runtime: Pick<RuntimeService, 'status'>; readonly log: Logger; readonly scheduler: SchedulerLike },
): Observable<never> =>
  poll(() => runtime.status({}), { periodMs: RUNTIME_STATUS_PERIOD_MS, timeoutMs: STATUS_TIMEOUT_MS, scheduler }).pipe(
    tap((polled) => {
      if (polled.kind === 'ok') watch.state = foldRuntimeStatus(watch.state, polled.value, scheduler.now());
      else log.warn({ error: errorText(polled.error) }, 'the runtime does not tell its status');
    }),
    ignoreElements(),
  );
