import {
  catchError,
  concat,
  defer,
  delay,
  EMPTY,
  ignoreElements,
  merge,
  mergeMap,
  type MonoTypeOperatorFunction,
  NEVER,
  Observable,
  of,
  Subject,
  Subscription,
  throwError,
  timer,
} from 'rxjs';
import { ApiError } from '../../../model/kube-api/api-error.js';
import type { ClusterPorts } from '../../../streams/cluster/cluster-node.js';
import type { ApiServer, ApiWatchMessage } from '../../../streams/ports/api-server.js';
import { type ArmedFault, type FaultSide, strikes } from './armed-fault.js';
import type { ApiCallFault, ApiWayFault } from './fault.js';

/** The faults of one request. */
interface Strokes {
  requestMs: number;
  replyMs: number;
  refused: ApiError | undefined;
  isLost: boolean;
  isGone: boolean;
  /** The version is too old, reported by the reply itself. */
  isInReply: boolean;
  silent: { readonly isDone: boolean } | undefined;
}

interface ArmedApi {
  readonly calls: readonly ArmedFault<ApiCallFault>[];
  readonly way: readonly ApiWayFault[];
}

type Connection = Pick<ClusterPorts, 'api' | 'resetConnections'>;

/** Puts faults between an agent and the API server. */
export const faultyApi = (
  { calls, way }: ArmedApi,
  { scheduler, startMs }: Pick<FaultSide, 'scheduler' | 'startMs'>,
): (<Ports extends Connection>(ports: Ports) => Ports) => {
  if (calls.length + way.length === 0) return (ports) => ports;
  /** A silent connection can still break. */
  const resets$ = new Subject<void>();
  const now = (): number => scheduler.now() - startMs;
  const cutNow = (): ApiWayFault | undefined =>
    way.find((fault) => fault.kind === 'api-cut' && fault.fromMs <= now() && now() < fault.untilMs);

  const strokesOf = (): Strokes => {
    const strokes: Strokes = {
      requestMs: 0,
      replyMs: 0,
      isLost: false,
      isGone: false,
      isInReply: false,
      refused: undefined,
      silent: undefined,
    };
    for (const one of calls) {
      if (!strikes(one, now())) continue;
      const { fault, draw } = one;
      if (fault.kind === 'api-late') {
        const ms = draw.integer(fault.minMs, fault.maxMs);
        if (draw.chance(0.5)) strokes.requestMs += ms;
        else strokes.replyMs += ms;
      } else if (fault.kind === 'api-refused') strokes.refused ??= refusal(fault.code, fault.retryAfterSeconds);
      else if (fault.kind === 'api-reply-lost') strokes.isLost = true;
      else if (fault.kind === 'api-gone') {
        strokes.isGone = true;
        strokes.isInReply = draw.chance(0.5);
      } else strokes.silent ??= fault;
    }
    return strokes;
  };

  /** The faults on the way there, and immediate ones. */
  const there = <T>({ requestMs, refused, silent }: Strokes, ask: () => Observable<T>): Observable<T> => {
    const cut = cutNow();
    if (cut) return cut.how === 'silent' ? NEVER : later(1, () => throwError(reset));
    if (silent) return silent.isDone ? merge(later(requestMs, ask).pipe(unheard), NEVER) : NEVER;
    if (refused) return later(Math.max(1, requestMs), () => throwError(() => refused));
    return later(requestMs, ask);
  };
  const later = <T>(ms: number, ask: () => Observable<T>): Observable<T> =>
    ms === 0 ? defer(ask) : timer(ms, scheduler).pipe(mergeMap(ask));

  /** Also changes the server's refusals. */
  const lateBy =
    <T>(ms: number): MonoTypeOperatorFunction<T> =>
    (source) =>
      source.pipe(
        delay(ms, scheduler),
        catchError((error: unknown) => later(ms, () => throwError(() => error))),
      );

  /** Breaks an open watch when the connection does. */
  const breaking = <T>(source: Observable<T>): Observable<T> => {
    const reset$ = resets$.pipe(mergeMap(() => throwError(reset)));
    const next = way
      .map((fault) => ({ how: fault.how, inMs: (fault.kind === 'api-cut' ? fault.fromMs : fault.atMs) - now() }))
      .filter(({ inMs }) => inMs > 0)
      .sort((one, other) => one.inMs - other.inMs)[0];
    if (!next) return endingWithFirst(source, reset$);
    const broken$ = timer(next.inMs, scheduler).pipe(
      mergeMap(() => (next.how === 'reset' ? throwError(reset) : of(SILENCE))),
    );
    return endingWithFirst(source, merge(reset$, broken$));
  };

  const faulty = (api: ApiServer): ApiServer => ({
    request: (asked) =>
      defer(() => {
        const strokes = strokesOf();
        const answer$ = there(strokes, () => api.request(asked));
        if (strokes.isLost) return concat(answer$.pipe(ignoreElements()), throwError(reset));
        return strokes.replyMs === 0 ? answer$ : answer$.pipe(lateBy(strokes.replyMs));
      }),
    watch: (asked) =>
      defer(() => {
        const strokes = strokesOf();
        if (strokes.isGone && Number(asked.query?.['resourceVersion'] ?? 0) > 0)
          return later(1 + strokes.requestMs, () => goneWatch(strokes.isInReply));
        return breaking(there(strokes, () => (strokes.isLost ? throwError(reset) : api.watch(asked))));
      }),
  });

  return (ports) => ({
    ...ports,
    api: faulty(ports.api),
    resetConnections: () => {
      resets$.next();
      ports.resetConnections();
    },
  });
};

const reset = (): ApiError => new ApiError({ message: 'read ECONNRESET' });

const refusal = (code: number, retryAfterSeconds?: number): ApiError =>
  new ApiError({
    code,
    reason: REASONS[code] ?? 'InternalError',
    message: `refused with ${code}, as the history has it`,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Reported by the reply, or by the first line of the stream. */
const goneWatch = (inReply: boolean): Observable<ApiWatchMessage> => {
  const status = { code: 410, reason: 'Expired', message: 'too old resource version, as the history has it' };
  if (inReply) return throwError(() => new ApiError(status));
  const object = { kind: 'Status', apiVersion: 'v1', status: 'Failure', ...status };
  return of({ kind: 'opened' } as const, { kind: 'event', type: 'ERROR', object } as const);
};

const SILENCE = Symbol('silence');

/** The source until `until` emits: silence from then on, or its error. */
const endingWithFirst = <T>(source: Observable<T>, broken$: Observable<typeof SILENCE>): Observable<T> =>
  new Observable((subscriber) => {
    const heard = new Subscription();
    subscriber.add(heard);
    subscriber.add(
      broken$.subscribe({ next: () => heard.unsubscribe(), error: (error: unknown) => subscriber.error(error) }),
    );
    heard.add(
      source.subscribe({
        next: (value) => subscriber.next(value),
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
  });

const unheard = <T>(source: Observable<T>): Observable<never> =>
  source.pipe(
    ignoreElements(),
    catchError(() => EMPTY),
  );
