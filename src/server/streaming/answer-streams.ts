import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  asyncScheduler,
  catchError,
  defer,
  fromEvent,
  ignoreElements,
  lastValueFrom,
  map,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  takeUntil,
} from 'rxjs';
import { hasForwardEnded } from '../../model/server/has-forward-ended.js';
import { requestPath } from '../../model/server/request-path.js';
import { streamCall, type StreamCall, type StreamSubject } from '../../model/server/stream-call.js';
import { tunnelledProtocols, tunnelName } from '../../model/server/spdy-tunnel.js';
import { type StreamPath, streamPath } from '../../model/server/stream-path.js';
import { streamRefusal, type StreamRefusal } from '../../model/server/stream-refusal.js';
import type { StreamingService } from '../../streams/ports/streaming-service.js';
import { forwardEnd } from './forward-end.js';
import { limitStreams, STREAM_LIMITS, type StreamLimits } from './limit-streams.js';
import { send } from '../routes/http-routes.js';
import { isWebSocket } from '../access/presented-credentials.js';
import { COMMAND_PROTOCOLS, convertCommand, CONVERTED_PROTOCOL, type OpenSpdy } from './convert-command.js';
import { type Conversion, proxyUpgrade, relay } from './proxy-upgrade.js';
import { bytesOf, type WebSocketClient, webSocketClient } from './websocket-client.js';

export interface StreamView extends StreamSubject {
  readonly streaming: StreamingService;
  /** Emits after each change of a pod, and after each read of a pod from the runtime. */
  readonly podChange$: Observable<unknown>;
  /** Default: 20 for a pod, 50 in all. */
  readonly limits?: StreamLimits;
  /**
   * Converts two kinds of WebSockets to SPDY for the runtime (gate ExtendWebSocketsToKubelet): a port-forward whose messages carry
   * SPDY, and a command whose client can end its input alone. Without it they are passed on as all others.
   */
  readonly convert?: WebSocketConversion | undefined;
  readonly scheduler?: SchedulerLike;
}

export interface WebSocketConversion {
  readonly count: (subresource: 'exec' | 'attach' | 'portforward') => void;
  readonly openSpdy: OpenSpdy;
}

const METHODS: readonly (string | undefined)[] = ['GET', 'POST'];

/**
 * Serves exec, attach and port-forward by the streaming server of the runtime, and passes all other requests on. A stream, and
 * each step before it, ends when its client disconnects, and a port-forward also when its pod has ended.
 *
 * Source: pkg/kubelet/server/server.go getExec, getAttach, getPortForward
 */
export const answerStreams = (view: StreamView, next: RequestListener): RequestListener => {
  const { streaming, limits = STREAM_LIMITS, convert, scheduler = asyncScheduler } = view;
  const limit = limitStreams(limits);

  /** Emits the refusal of a request, or nothing if it has become a stream. */
  const answerOf = (path: StreamPath, request: IncomingMessage, response: ServerResponse): Observable<StreamRefusal> =>
    defer(() => {
      const { searchParams: query } = new URL(request.url ?? '/', 'http://local');
      const offers = convert && isWebSocket(request.headers) ? request.headers['sec-websocket-protocol'] : undefined;
      const tunnelled = path.kind === 'portForward' ? tunnelledProtocols(offers) : [];
      const isCommand = path.kind !== 'portForward' && offersOf(offers).includes(CONVERTED_PROTOCOL);
      const isPlain = isWebSocket(request.headers) && tunnelled.length === 0;
      const call = streamCall({ path, query, isWebSocket: isPlain }, view);
      if ('status' in call) return of(call);

      const conversionFor = (client: WebSocketClient, { openSpdy }: WebSocketConversion): Conversion =>
        call.kind === 'portForward'
          ? {
              protocols: tunnelled,
              join: (server, protocol) =>
                bytesOf(client.accept(tunnelName(protocol))).pipe(
                  switchMap((bytes) => relay(bytes, server, scheduler)),
                ),
            }
          : {
              protocols: COMMAND_PROTOCOLS,
              join: (server, protocol) =>
                client
                  .accept(CONVERTED_PROTOCOL)
                  .pipe(
                    switchMap((socket) =>
                      convertCommand({ client: socket, server, protocol, streams: call.request, openSpdy, scheduler }),
                    ),
                  ),
            };
      const converted = convert && (tunnelled.length > 0 || isCommand) ? convert : undefined;
      converted?.count(path.kind === 'portForward' ? 'portforward' : path.kind);
      const conversion$: Observable<Conversion | undefined> = converted
        ? webSocketClient(request, response).pipe(map((client) => conversionFor(client, converted)))
        : of(undefined);
      const ended$ =
        call.kind === 'portForward'
          ? forwardEnd(view.podChange$, () => hasForwardEnded({ ...call, ...call.request }, view))
          : NEVER;
      const upgraded$ = conversion$.pipe(
        switchMap((conversion) =>
          urlFrom(streaming, call).pipe(
            switchMap((target) => proxyUpgrade({ target, request, response, conversion, scheduler })),
          ),
        ),
        takeUntil(ended$),
      );
      return upgraded$.pipe(limit(`${path.namespace}/${path.pod}`), ignoreElements());
    }).pipe(catchError((error: unknown) => of(streamRefusal(error))));

  return (request, response) => {
    const path = streamPath(requestPath(request.url ?? '') ?? '');
    if (!path) return next(request, response);
    if (!METHODS.includes(request.method)) {
      response.setHeader('Allow', METHODS.join(', '));
      return send(response, { status: 405, body: 'Method Not Allowed\n' });
    }
    lastValueFrom(answerOf(path, request, response).pipe(takeUntil(fromEvent(response, 'close'))), {
      defaultValue: undefined,
    }).then(
      (refusal) => {
        if (!refusal) return;
        if (refusal.retryAfterSeconds !== undefined) response.setHeader('Retry-After', refusal.retryAfterSeconds);
        send(response, refusal);
      },
      () => response.destroy(),
    );
  };
};

const offersOf = (header = ''): readonly string[] => header.split(',').map((protocol) => protocol.trim());

const urlFrom = (streaming: StreamingService, call: StreamCall): Observable<URL> => {
  const reply$ =
    call.kind === 'exec'
      ? streaming.exec(call.request)
      : call.kind === 'attach'
        ? streaming.attach(call.request)
        : streaming.portForward(call.request);
  return reply$.pipe(map(({ url }) => new URL(url)));
};
