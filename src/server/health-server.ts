import type { Observable, SchedulerLike } from 'rxjs';
import { refuseOtherHosts } from './access/refuse-other-hosts.js';
import { listenWhile, OPEN_PORT_SILENT_MS, type ServerEvent, urlOf } from './listening/listen-while.js';
import type { HealthChecks } from './routes/health.js';
import { answerBy } from './routes/http-routes.js';
import { healthRoutes } from './routes/kubelet-routes.js';

export interface HealthServerOptions {
  /** The address to listen on; port 0 takes a free one. */
  readonly address: string;
  readonly port: number;
  /** The checks by name; `ping` and `log` always exist. */
  readonly healthChecks: HealthChecks;
  /**
   * Names and addresses of the node. A request for a host other than these, loopback and the address itself is refused.
   */
  readonly names: readonly string[];
  readonly scheduler?: SchedulerLike;
}

/**
 * Serves health, and nothing else, over plain HTTP from subscribing to unsubscribing. Every process of the machine can
 * connect. Emits as `listenWhile` does.
 *
 * Source: the healthz server of cmd/kubelet/app/server.go.
 */
export const healthServer = ({
  address,
  port,
  healthChecks,
  names,
  scheduler,
}: HealthServerOptions): Observable<ServerEvent> =>
  listenWhile({
    silentMs: OPEN_PORT_SILENT_MS,
    scheduler,
    answer: refuseOtherHosts(names, answerBy(healthRoutes(healthChecks))),
    listen: (server, listening) => server.listen(port, address, () => listening(urlOf(server, 'http', address))),
  });
