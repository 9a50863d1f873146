import type { Observable, SchedulerLike } from 'rxjs';
import type { HealthChecks } from './health.js';
import { answerBy } from './http-routes.js';
import { healthRoutes } from './kubelet-routes.js';
import { listenWhile, type ServerEvent, urlOf } from './listen-while.js';
import { refuseOtherHosts } from './refuse-other-hosts.js';

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
    scheduler,
    answer: refuseOtherHosts(names, answerBy(healthRoutes(healthChecks))),
    listen: (server, listening) => server.listen(port, address, () => listening(urlOf(server, 'http', address))),
  });
