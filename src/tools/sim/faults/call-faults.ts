import {
  catchError,
  concat,
  defer,
  delay,
  dematerialize,
  EMPTY,
  ignoreElements,
  materialize,
  NEVER,
  Observable,
  type Subscription,
  switchMap,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { callDeadlineMs, type TimedRequest } from '../../../model/cri/call-deadline.js';
import { CriError, type CriErrorCode } from '../../../model/cri/cri-error.js';
import type { CriCall } from '../../../streams/ports/runtime-service.js';
import type { CallFault } from './fault.js';
import { type ArmedFault, type FaultSide, strikes } from './armed-fault.js';

/** The deadline of a call, by default that of the command line. */
const REQUEST_TIMEOUT_MS = 120_000;
/** The time after which a supervisor restarts a runtime that hangs over a call without a deadline. */
const PATIENCE_MS = 300_000;

/** All that strikes one call. */
interface Strokes {
  requestMs: number;
  replyMs: number;
  refused: CriErrorCode | undefined;
  lost: CriErrorCode | undefined;
  hangs: { readonly isDone: boolean } | undefined;
  isCancelUnheard: boolean;
}

export type WrapCall = <Request, Response>(call: string, ask: CriCall<Request, Response>) => CriCall<Request, Response>;

/**
 * Puts faults between the agent and calls of the runtime. A call that no fault strikes is left as it is; one that is struck ends by
 * its deadline at the latest, as calls over gRPC do.
 */
export const faultyCalls =
  (armed: readonly ArmedFault<CallFault>[], side: FaultSide): WrapCall =>
  (call, ask) => {
    const own = armed.filter(({ fault: { calls } }) => calls?.includes(call) ?? true);
    if (own.length === 0) return ask;
    return (request) =>
      defer(() => {
        const strokes = strokesOf(own, side.scheduler.now() - side.startMs);
        return strokes ? struck(call, request as TimedRequest, () => ask(request), strokes, side) : ask(request);
      });
  };

const strokesOf = (armed: readonly ArmedFault<CallFault>[], atMs: number): Strokes | undefined => {
  let strokes: Strokes | undefined;
  for (const one of armed) {
    if (!strikes(one, atMs)) continue;
    strokes ??= {
      requestMs: 0,
      replyMs: 0,
      refused: undefined,
      lost: undefined,
      hangs: undefined,
      isCancelUnheard: false,
    };
    const { fault, draw } = one;
    switch (fault.kind) {
      case 'late-request':
        strokes.requestMs += draw.integer(fault.minMs, fault.maxMs);
        break;
      case 'late-reply':
        strokes.replyMs += draw.integer(fault.minMs, fault.maxMs);
        break;
      case 'refused':
        strokes.refused ??= fault.code;
        break;
      case 'reply-lost':
        strokes.lost ??= fault.code;
        break;
      case 'hangs':
        strokes.hangs ??= fault;
        break;
      case 'cancel-unheard':
        strokes.isCancelUnheard = true;
        break;
    }
  }
  return strokes;
};

/** One call with all of its faults. */
const struck = <Response>(
  call: string,
  request: TimedRequest,
  ask: () => Observable<Response>,
  { requestMs, replyMs, refused, lost, hangs, isCancelUnheard }: Strokes,
  { scheduler, detached }: FaultSide,
): Observable<Response> => {
  const fails = (code: CriErrorCode): Observable<never> =>
    throwError(() => new CriError(code, call, `${code}, as the history has it`));
  const reached$ = isCancelUnheard || hangs ? unheard(defer(ask), detached) : defer(ask);
  const outcome$ = hangs
    ? hangs.isDone
      ? concat(reached$.pipe(silence), NEVER)
      : NEVER
    : refused !== undefined
      ? fails(refused)
      : lost !== undefined
        ? concat(reached$.pipe(silence), fails(lost))
        : reached$;
  const answer$ = replyMs > 0 ? outcome$.pipe(materialize(), delay(replyMs, scheduler), dematerialize()) : outcome$;
  const all$ = requestMs > 0 ? timer(requestMs, scheduler).pipe(switchMap(() => answer$)) : answer$;
  const deadlineMs = callDeadlineMs(call, request, REQUEST_TIMEOUT_MS);
  return all$.pipe(
    timeout({
      first: deadlineMs ?? PATIENCE_MS,
      scheduler,
      with: () => fails(deadlineMs === undefined ? 'unavailable' : 'deadline-exceeded'),
    }),
  );
};

/** Completes when the source completes or fails; its values are dropped. */
const silence = (source: Observable<unknown>): Observable<never> =>
  source.pipe(
    ignoreElements(),
    catchError(() => EMPTY),
  );

/** Keeps the source subscribed after an unsubscription, until the world ends. */
const unheard = <T>(source: Observable<T>, detached: Subscription): Observable<T> =>
  new Observable((subscriber) => {
    let isHeard = true;
    const subscription = source.subscribe({
      next: (value) => isHeard && subscriber.next(value),
      error: (error: unknown) => isHeard && subscriber.error(error),
      complete: () => isHeard && subscriber.complete(),
    });
    detached.add(subscription);
    return () => (isHeard = false);
  });
