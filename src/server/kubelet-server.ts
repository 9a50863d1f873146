import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { asyncScheduler, defer, type Observable, type SchedulerLike, switchMap } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import type { EndpointSwitches } from '../model/server/disabled-endpoint.js';
import type { TlsSettings } from '../model/server/tls-settings.js';
import { answerStreams, type StreamView } from './streaming/answer-streams.js';
import { answerUpgrades } from './streaming/answer-upgrades.js';
import { type GuardOptions, guardRequests } from './access/guard-requests.js';
import { sliRoutes } from './routes/health-slis.js';
import type { HealthChecks } from './routes/health.js';
import {
  answerUnlessDisabled,
  debugRoutes,
  type DebugView,
  healthRoutes,
  nodeRoutes,
  type NodeRoutesOptions,
} from './routes/kubelet-routes.js';
import { listenOnce, type Listening, type ServerEvent, urlOf } from './listening/listen-while.js';
import type { ParameterRoute } from './routes/parameter-routes.js';
import type { CountRequests } from './metrics/request-metrics.js';
import { retryListening } from './listening/retry-listening.js';
import { type CurrentTls, type PemSources, serverTls } from './tls/server-tls.js';

export interface KubeletServerOptions extends NodeRoutesOptions, DebugView {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Finds or makes the files of the certificate before the server listens. Errors: there are none. */
  readonly pems: () => Promise<PemSources>;
  readonly tls: TlsSettings;
  readonly guard: GuardOptions;
  readonly switches: EndpointSwitches;
  /** Exec, attach and port-forward; the pods are those of `pods`. */
  readonly streams: Omit<StreamView, 'pods'>;
  readonly healthChecks: HealthChecks;
  readonly countRequests: CountRequests;
  /** Further paths that `enableDebuggingHandlers` turns off. */
  readonly debugPaths?: readonly ParameterRoute[];
  readonly scheduler?: SchedulerLike;
}

/** Source: pkg/kubelet/server/server.go ListenAndServeKubeletServer */
const MAX_HEADER_BYTES = 2 ** 20;
/** The kubelet has no limit for a handshake; one that does not proceed would use a connection. */
export const HANDSHAKE_MS = 10_000;
/** Streams, logs, commands and files together may use 140: enough stay free for metrics and the API server. */
const MOST_CONNECTIONS = 300;

/**
 * Serves the kubelet API over HTTPS from subscribing to unsubscribing, to clients that the guard lets pass. Changed
 * files count from the next connection on. With changed client authorities all connections are closed, since they were
 * verified by the former ones.
 *
 * Errors: none; failures are values, and the server is started again 5 s later, unlike upstream, where a failure ends
 * the kubelet. Ends: never by itself.
 * Source: pkg/kubelet/server/server.go
 */
export const kubeletServer = (options: KubeletServerOptions): Observable<ServerEvent> => {
  const { pems, scheduler = asyncScheduler } = options;
  return defer(pems).pipe(
    switchMap((sources) => listenOver(options, sources)),
    retryListening(scheduler),
  );
};

const listenOver = (options: KubeletServerOptions, sources: PemSources): Observable<Listening> => {
  const { address, port, tls, guard, countRequests } = options;
  return listenOnce({
    mostConnections: MOST_CONNECTIONS,
    answer: countRequests('readwrite', guardRequests(answerOf(options), guard)),
    create: (limits, answer) => {
      const current = serverTls(sources, tls, (error) =>
        guard.log.warn({ error: errorText(error) }, 'the certificates of the kubelet API cannot be renewed'),
      );
      const server = createServer({
        ...limits,
        ...current().options,
        maxHeaderSize: MAX_HEADER_BYTES,
        handshakeTimeout: HANDSHAKE_MS,
        ALPNProtocols: ['http/1.1'],
        requestCert: sources.clientCa !== undefined,
        // A client whose certificate is not trusted may still have a token.
        rejectUnauthorized: false,
      });
      const renew = renewal(server, current);
      const answerRenewed: RequestListener = (request, response) => {
        renew();
        // Its connection may be one of those that a renewal closes.
        if (!request.socket.destroyed) answer(request, response);
      };
      server.on('request', answerRenewed);
      answerUpgrades(server, answerRenewed);
      // Before the server takes its settings for the connection.
      server.prependListener('connection', renew);
      return server;
    },
    listen: (server, listening) => server.listen(port, address, () => listening(urlOf(server, 'https', address))),
  });
};

/** Takes over changed files, and closes all connections if the client authorities are among them. */
const renewal = (server: Server, current: () => CurrentTls): (() => void) => {
  let used = current();
  const open = new Set<Socket>();
  const track = (socket: Socket): void => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  };
  // The socket below TLS first, which exists during the handshake, too. Destroying it alone destroys the other one later.
  server.on('connection', track);
  server.on('secureConnection', track);
  return () => {
    const next = current();
    if (next === used) return;
    const hasOtherClients = next.clientCa !== used.clientCa;
    used = next;
    server.setSecureContext(next.options);
    if (hasOtherClients) for (const socket of open) socket.destroy();
  };
};

const answerOf = ({
  switches,
  healthChecks,
  streams,
  debugPaths = [],
  ...view
}: KubeletServerOptions): RequestListener => {
  const answer = answerUnlessDisabled(
    {
      ...healthRoutes(healthChecks, view.slis),
      ...nodeRoutes(view),
      ...(switches.enableDebuggingHandlers && debugRoutes(view)),
    },
    switches,
    [...(view.slis ? sliRoutes(view.slis) : []), ...(switches.enableDebuggingHandlers ? debugPaths : [])],
  );
  return switches.enableDebuggingHandlers ? answerStreams({ ...streams, pods: view.pods }, answer) : answer;
};
