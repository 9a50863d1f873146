import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  EMPTY,
  mergeMap,
  type Observable,
  type SchedulerLike,
  throwError,
} from 'rxjs';
import type { ContainerEventResponse } from '../generated/runtime/v1/api.js';
import { isCriError } from '../model/cri-error.js';
import { retryWithBackoff } from './operators/retry-with-backoff.js';

export interface RuntimeHintsOptions {
  /** Before the first reconnect; doubles up to `maxDelayMs`. */
  readonly initialDelayMs?: number;
  readonly maxDelayMs?: number;
  readonly scheduler?: SchedulerLike;
}

/**
 * Emits the uid of a pod whenever the runtime tells that something happened to one of its containers. An event is only a
 * hint: what it says of the pod is not looked at. One without a sandbox is left to the next relist.
 *
 * Errors: none; a stream that breaks or ends is opened again after a delay. What happened meanwhile is never told.
 * Ends:   without a value when the runtime has no such stream.
 */
export const runtimeHints = (
  containerEvents: () => Observable<ContainerEventResponse>,
  { initialDelayMs = 1_000, maxDelayMs = 30_000, scheduler = asyncScheduler }: RuntimeHintsOptions = {},
): Observable<string> =>
  concat(
    defer(containerEvents),
    throwError(() => new Error('the stream of container events ended')),
  ).pipe(
    mergeMap(({ podSandboxStatus }) => {
      const uid = podSandboxStatus?.metadata?.uid;
      return uid ? [uid] : [];
    }),
    catchError((error: unknown) => (isCriError(error, 'unimplemented') ? EMPTY : throwError(() => error))),
    retryWithBackoff({ initialMs: initialDelayMs, maxMs: maxDelayMs, scheduler }),
  );
