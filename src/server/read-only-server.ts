import type { Observable, SchedulerLike } from 'rxjs';
import { sliRoutes } from './routes/health-slis.js';
import type { HealthChecks } from './routes/health.js';
import { answerUnlessDisabled, healthRoutes, nodeRoutes, type NodeView } from './routes/kubelet-routes.js';
import { listenWhile, type ServerEvent, urlOf } from './listening/listen-while.js';
import type { CountRequests } from './metrics/request-metrics.js';

export interface ReadOnlyServerOptions extends NodeView {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly healthChecks: HealthChecks;
  readonly countRequests: CountRequests;
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
 * Serves health, pods and metrics over plain HTTP to every client, from subscribing to unsubscribing. Emits as
 * `listenWhile` does.
 *
 * Source: pkg/kubelet/server/server.go ListenAndServeKubeletReadOnlyServer
 */
export const readOnlyServer = ({
  address,
  port,
  healthChecks,
  countRequests,
  scheduler,
  ...view
}: ReadOnlyServerOptions): Observable<ServerEvent> =>
  listenWhile({
    scheduler,
    answer: countRequests(
      'readonly',
      answerUnlessDisabled(
        { ...healthRoutes(healthChecks, view.slis), ...nodeRoutes(view) },
        NO_DEBUGGING,
        view.slis ? sliRoutes(view.slis) : [],
      ),
    ),
    listen: (server, listening) => server.listen(port, address, () => listening(urlOf(server, 'http', address))),
  });
