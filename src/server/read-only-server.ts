import type { Observable, SchedulerLike } from 'rxjs';
import { isLoopbackAddress } from './access/own-host.js';
import { refuseOtherHosts } from './access/refuse-other-hosts.js';
import { listenWhile, OPEN_PORT_SILENT_MS, type ServerEvent, urlOf } from './listening/listen-while.js';
import type { CountRequests } from './metrics/request-metrics.js';
import { sliRoutes } from './routes/health-slis.js';
import type { HealthChecks } from './routes/health.js';
import { answerUnlessDisabled, healthRoutes, nodeRoutes, type NodeRoutesOptions } from './routes/kubelet-routes.js';

export interface ReadOnlyServerOptions extends NodeRoutesOptions {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly healthChecks: HealthChecks;
  readonly countRequests: CountRequests;
  /** Names and addresses of the node. A process of this machine is refused under any other one, except for those of loopback. */
  readonly names: readonly string[];
  readonly scheduler?: SchedulerLike;
}

/** Endpoints for debugging are off here, also if they are on for the other port. */
const NO_DEBUGGING = {
  enableDebuggingHandlers: false,
  enableSystemLogHandler: false,
  enableProfilingHandler: false,
  enableDebugFlagsHandler: false,
};

/**
 * Serves health, pods and metrics over plain HTTP to every client, from subscribing to unsubscribing. Over loopback a request for
 * another host is refused, unlike upstream: a web page that a user of this machine opens could read the pods. Emits as
 * `listenWhile` does.
 *
 * Source: pkg/kubelet/server/server.go ListenAndServeKubeletReadOnlyServer
 */
export const readOnlyServer = ({
  address,
  port,
  healthChecks,
  countRequests,
  names,
  scheduler,
  ...view
}: ReadOnlyServerOptions): Observable<ServerEvent> => {
  const answer = answerUnlessDisabled(
    { ...healthRoutes(healthChecks, view.slis), ...nodeRoutes(view) },
    NO_DEBUGGING,
    view.slis ? sliRoutes(view.slis) : [],
  );
  const answerOwn = refuseOtherHosts(names, answer);
  return listenWhile({
    silentMs: OPEN_PORT_SILENT_MS,
    scheduler,
    // Clients elsewhere may know this node by names that it does not know itself.
    answer: countRequests('readonly', (request, response) =>
      (isLoopbackAddress(request.socket.localAddress) ? answerOwn : answer)(request, response),
    ),
    listen: (server, listening) => server.listen(port, address, () => listening(urlOf(server, 'http', address))),
  });
};
