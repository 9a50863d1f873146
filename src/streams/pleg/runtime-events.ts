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
  type SchedulerLike,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { ContainerEventResponse } from '../../generated/runtime/v1/api.js';
import { isCriError } from '../../model/cri/cri-error.js';
import { nextDelay } from '../../model/values/back-off.js';
import { every } from '../operators/every.js';

/** An event of a container, or a change of the stream of these events. */
export type RuntimeEventNews =
  /** The stream is open: it emitted an event, or lasted for a second. */
  | { readonly kind: 'connected' }
  /** Something happened to a container of the pod. `createdAt`: Unix nanoseconds of the runtime's clock. */
  | {
      readonly kind: 'event';
      readonly uid: string;
      readonly createdAt: bigint;
      /** Only a call of a client causes it: a container is created, or a sandbox is created or starts. */
      readonly isCausedByCall: boolean;
    }
  /** The stream broke, ended or was refused; `failures` counts these in a row. */
  | { readonly kind: 'broken'; readonly error: unknown; readonly failures: number };

/** A stream counts as open after this time, since the runtime does not report that it accepts one. Milliseconds. */
export const CONNECTED_AFTER_MS = 1_000;

/** The number of early retries in a row. Source: pkg/kubelet/kubelet.go eventedPlegMaxStreamRetries. */
export const MAX_STREAM_RETRIES = 5;

/** The wait before the first early retry; doubles with each. Milliseconds. */
export const FIRST_RETRY_MS = 1_000;

/** The wait before each later retry, for a runtime that is replaced by one with events. Milliseconds. */
export const LATE_RETRY_MS = 300_000;

/**
 * Emits the UIDs of pods with events of their containers, and the changes of the stream of these events. Does not use the status
 * in an event; leaves out events without a sandbox.
 *
 * Errors: none; a stream that broke is opened again after 1 s, doubling with each failure in a row, and after five of them every
 *         5 min. Events meanwhile are lost. A runtime without such a stream is tried every 5 min only.
 * Ends:   never.
 */
export const runtimeEvents = (
  containerEvents: () => Observable<ContainerEventResponse>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<RuntimeEventNews> =>
  defer(() => {
    /** The last break, with the failures in a row. */
    let last = NO_BREAK;
    const once$ = defer(() => openStream(containerEvents, scheduler)).pipe(
      tap(({ kind }) => {
        if (kind === 'connected') last = NO_BREAK;
      }),
      catchError((error: unknown) => {
        last = { kind: 'broken', error, failures: last.failures + 1 };
        return of<RuntimeEventNews>(last);
      }),
    );
    return every({ periodMs: () => retryDelayMs(last), scheduler }, () => once$);
  });

type StreamBreak = Extract<RuntimeEventNews, { readonly kind: 'broken' }>;

const NO_BREAK: StreamBreak = { kind: 'broken', error: undefined, failures: 0 };

/** The wait before the next retry after a break, in milliseconds. */
const retryDelayMs = ({ error, failures }: StreamBreak): number =>
  failures > MAX_STREAM_RETRIES || isCriError(error, 'unimplemented')
    ? LATE_RETRY_MS
    : nextDelay({ initialMs: FIRST_RETRY_MS, maxMs: LATE_RETRY_MS }, failures);

/** Opens one stream and emits its news. Errors: those of the stream, and its end. */
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
  return uid ? [{ kind: 'event', uid, createdAt, isCausedByCall: isCausedByCall(response) }] : [];
};

/** The start of a container does not count: the rest of that sync may take minutes, so the pod is read before its end. */
const isCausedByCall = ({ containerEventType: type, containerId, podSandboxStatus }: ContainerEventResponse): boolean =>
  type === 'CONTAINER_CREATED_EVENT' || (type === 'CONTAINER_STARTED_EVENT' && containerId === podSandboxStatus?.id);
