import type { IncomingMessage } from 'node:http';
import type { Observable, SchedulerLike } from 'rxjs';
import type { HealthChecks } from './routes/health.js';
import { answerBy, send } from './routes/http-routes.js';
import { healthRoutes } from './routes/kubelet-routes.js';
import { listenWhile, type ServerEvent, urlOf } from './listening/listen-while.js';
import { isOwnHost } from './access/own-host.js';

export interface HealthServerOptions {
  /** The address to listen on; port 0 takes a free one. */
  readonly address: string;
  readonly port: number;
  /** The checks by name; `ping` always exists. */
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
}: HealthServerOptions): Observable<ServerEvent> => {
  const answer = answerBy(healthRoutes(healthChecks));
  return listenWhile({
    scheduler,
    answer: (request, response) => {
      if (isForUs(request, names)) answer(request, response);
      else send(response, { status: 403, body: 'Forbidden: this node does not have the name of the request\n' });
    },
    listen: (server, listening) => server.listen(port, address, () => listening(urlOf(server, 'http', address))),
  });
};

/**
 * Checks the host in the header, which HTTP/1.0 may leave out, and the host in the request line, which a proxy would
 * use.
 */
const isForUs = ({ headers, url = '/', socket }: IncomingMessage, names: readonly string[]): boolean => {
  const [, inUrl] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url) ?? [];
  return [headers.host, inUrl].every(
    (host) => host === undefined || isOwnHost(host, { localAddress: socket.localAddress, names }),
  );
};
