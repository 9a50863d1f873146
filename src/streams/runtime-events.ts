import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  connect,
  defer,
  EMPTY,
  map,
  merge,
  type Observable,
  of,
  repeat,
  type SchedulerLike,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { ContainerEventResponse } from '../generated/runtime/v1/api.js';
import { isCriError } from '../model/cri-error.js';

/** What is heard of the runtime's stream of container events, and of the stream itself. */
export type RuntimeEventNews =
  /** The stream has delivered something, or has lasted for a second: the runtime has one. */
  | { readonly kind: 'connected' }
  /** Something happened to a container of the pod. `createdAt`: Unix nanoseconds of the runtime's clock. */
  | {
      readonly kind: 'event';
      readonly uid: string;
      readonly createdAt: bigint;
      /** It only happens because somebody asks for it: a container is created, or a sandbox is created or starts. */
      readonly isAskedFor: boolean;
    }
  /** The stream broke, ended, or was refused; `failures` times in a row. */
  | { readonly kind: 'broken'; readonly error: unknown; readonly failures: number };

/** A stream that lasts this long is taken for good, as the runtime says nothing when it accepts one. Milliseconds. */
export const CONNECTED_AFTER_MS = 1_000;

/** So often in a row a stream is opened again soon. Source: pkg/kubelet/kubelet.go eventedPlegMaxStreamRetries. */
export const MAX_STREAM_RETRIES = 5;

/** Before the first of them; doubles with each. Milliseconds. */
export const FIRST_RETRY_MS = 1_000;

/** Between all further ones: a runtime that was replaced by one with events is noticed. Milliseconds. */
export const LATE_RETRY_MS = 300_000;

/**
 * Emits what happens to containers, by pod, and what becomes of the stream that tells of it. What an event says of the pod is
 * not looked at; one without a sandbox is left out.
 *
 * Errors: none; a stream that broke is opened again after 1 s, doubling with each failure in a row, and after five of them every
 *         5 min. What happened meanwhile is never told. A runtime without such a stream is asked every 5 min only.
 * Ends:   never.
 */
export const runtimeEvents = (
  containerEvents: () => Observable<ContainerEventResponse>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<RuntimeEventNews> =>
  defer(() => {
    let failures = 0;
    let delayMs = 0;
    const once$ = defer(() => openStream(containerEvents, scheduler)).pipe(
      tap(({ kind }) => {
        if (kind === 'connected') failures = 0;
      }),
      catchError((error: unknown) => {
        failures += 1;
        delayMs = retryDelayMs(error, failures);
        return of<RuntimeEventNews>({ kind: 'broken', error, failures });
      }),
    );
    return once$.pipe(repeat({ delay: () => timer(delayMs, scheduler) }));
  });

/** Milliseconds until a stream is opened again that has failed `failures` times in a row, the last time with `error`. */
const retryDelayMs = (error: unknown, failures: number): number =>
  failures > MAX_STREAM_RETRIES || isCriError(error, 'unimplemented')
    ? LATE_RETRY_MS
    : FIRST_RETRY_MS * 2 ** (failures - 1);

/** One stream, until it errors; that it ends is an error, too. */
const openStream = (
  containerEvents: () => Observable<ContainerEventResponse>,
  scheduler: SchedulerLike,
): Observable<RuntimeEventNews> => {
  const connected = (response$: Observable<unknown>) =>
    merge(response$, timer(CONNECTED_AFTER_MS, scheduler)).pipe(
      take(1),
      map((): RuntimeEventNews => ({ kind: 'connected' })),
      catchError(() => EMPTY),
    );
  return concat(
    defer(containerEvents),
    throwError(() => new Error('the stream of container events ended')),
  ).pipe(connect((response$) => merge(connected(response$), response$.pipe(concatMap(newsOf)))));
};

const newsOf = (response: ContainerEventResponse): readonly RuntimeEventNews[] => {
  const { podSandboxStatus, createdAt } = response;
  const uid = podSandboxStatus?.metadata?.uid;
  return uid ? [{ kind: 'event', uid, createdAt, isAskedFor: isAskedFor(response) }] : [];
};

/** That a container starts is not among them: what follows in the same pass may take any time, so it is worth a look before. */
const isAskedFor = ({ containerEventType: type, containerId, podSandboxStatus }: ContainerEventResponse): boolean =>
  type === 'CONTAINER_CREATED_EVENT' || (type === 'CONTAINER_STARTED_EVENT' && containerId === podSandboxStatus?.id);
