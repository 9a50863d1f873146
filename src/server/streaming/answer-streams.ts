import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  asyncScheduler,
  catchError,
  defer,
  fromEvent,
  ignoreElements,
  lastValueFrom,
  map,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  takeUntil,
} from 'rxjs';
import { requestPath } from '../../model/server/request-path.js';
import { streamCall, type StreamCall, type StreamSubject } from '../../model/server/stream-call.js';
import { tunnelledProtocols } from '../../model/server/spdy-tunnel.js';
import { type StreamPath, streamPath } from '../../model/server/stream-path.js';
import { streamRefusal, type StreamRefusal } from '../../model/server/stream-refusal.js';
import type { StreamingService } from '../../streams/ports/streaming-service.js';
import { limitStreams, STREAM_LIMITS, type StreamLimits } from './limit-streams.js';
import { send } from '../routes/http-routes.js';
import { isWebSocket } from '../access/presented-credentials.js';
import { proxyUpgrade } from './proxy-upgrade.js';
import { type TunnelClient, tunnelClient } from './tunnel-client.js';

export interface StreamView extends StreamSubject {
  readonly streaming: StreamingService;
  /** Default: 20 for a pod, 50 in all. */
  readonly limits?: StreamLimits;
  /**
   * Counts a port-forward whose client sends SPDY in the messages of a WebSocket, which is then converted (gate
   * ExtendWebSocketsToKubelet). Without it such a request is passed on as any other WebSocket.
   */
  readonly countTunnel?: (() => void) | undefined;
  readonly scheduler?: SchedulerLike;
}

const METHODS: readonly (string | undefined)[] = ['GET', 'POST'];

/**
 * Serves exec, attach and port-forward by the streaming server of the runtime, and passes all other requests on. A stream, and
 * each step before it, ends when its client disconnects.
 *
 * Source: pkg/kubelet/server/server.go getExec, getAttach, getPortForward
 */
export const answerStreams = (view: StreamView, next: RequestListener): RequestListener => {
  const { streaming, limits = STREAM_LIMITS, countTunnel, scheduler = asyncScheduler } = view;
  const limit = limitStreams(limits);

  /** Emits the refusal of a request, or nothing if it has become a stream. */
  const answerOf = (path: StreamPath, request: IncomingMessage, response: ServerResponse): Observable<StreamRefusal> =>
    defer(() => {
      const { searchParams: query } = new URL(request.url ?? '/', 'http://local');
      const hasMessages = isWebSocket(request.headers);
      const tunnelled =
        countTunnel && hasMessages && path.kind === 'portForward'
          ? tunnelledProtocols(request.headers['sec-websocket-protocol'])
          : [];
      const call = streamCall({ path, query, isWebSocket: hasMessages && tunnelled.length === 0 }, view);
      if ('status' in call) return of(call);
      if (tunnelled.length > 0) countTunnel?.();
      const tunnel$: Observable<TunnelClient | undefined> =
        tunnelled.length > 0 ? tunnelClient(request, response, tunnelled) : of(undefined);
      return tunnel$.pipe(
        switchMap((tunnel) =>
          urlFrom(streaming, call).pipe(
            switchMap((target) => proxyUpgrade({ target, request, response, tunnel, scheduler })),
          ),
        ),
        limit(`${path.namespace}/${path.pod}`),
        ignoreElements(),
      );
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

const urlFrom = (streaming: StreamingService, call: StreamCall): Observable<URL> => {
  const reply$ =
    call.kind === 'exec'
      ? streaming.exec(call.request)
      : call.kind === 'attach'
        ? streaming.attach(call.request)
        : streaming.portForward(call.request);
  return reply$.pipe(map(({ url }) => new URL(url)));
};
