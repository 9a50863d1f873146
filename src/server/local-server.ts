import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import createRouter from 'find-my-way';
import type { Registry } from 'prom-client';
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { errorText } from '../model/cri-error.js';
import type { Pod } from '../model/pod.js';
import { allHealth, type HealthChecks, oneHealth, ping } from './health.js';
import { type ListenFailed, retryListening } from './retry-listening.js';

export interface LocalServerOptions {
  /** Where it listens; port 0 takes a free one. */
  readonly address: string;
  readonly port: number;
  readonly pods: () => readonly Pod[];
  /** By name; `ping` is always there. */
  readonly healthChecks: HealthChecks;
  readonly metrics: Registry;
  /** Served at `/metrics/probes`; nothing is unless given. */
  readonly probeMetrics?: Registry;
  readonly scheduler?: SchedulerLike;
}

export interface Listening {
  readonly kind: 'listening';
  readonly url: string;
}
export type ServerEvent = Listening | ListenFailed;

/**
 * Serves health, pods and metrics over plain HTTP from subscribing to unsubscribing. Emits the URL when it listens; emits
 * what went wrong when it cannot, or cannot any more, and tries again after 5 s.
 *
 * Ends: never by itself.
 * Source: the healthz server of cmd/kubelet/app/server.go, pkg/kubelet/server/server.go.
 */
export const localServer = (options: LocalServerOptions): Observable<ServerEvent> =>
  listening(options).pipe(retryListening(options.scheduler ?? asyncScheduler));

const listening = ({ address, port, ...inputs }: LocalServerOptions) =>
  new Observable<Listening>((subscriber) => {
    const router = routes({ ...inputs, healthChecks: { ping, ...inputs.healthChecks } });
    const server = createServer({ keepAliveTimeout: 90_000 }, (request, response) => {
      router.lookup(request, response);
    });
    server.on('error', (error) => subscriber.error(error));
    server.listen(port, address, () => {
      const { port: bound } = server.address() as AddressInfo;
      subscriber.next({
        kind: 'listening',
        url: `http://${address.includes(':') ? `[${address}]` : address}:${bound}`,
      });
    });
    return () => {
      server.close();
      server.closeAllConnections();
    };
  });

type Inputs = Pick<LocalServerOptions, 'pods' | 'healthChecks' | 'metrics' | 'probeMetrics'>;

const routes = ({ pods, healthChecks, metrics, probeMetrics }: Inputs) => {
  const known: string[] = [];
  const router = createRouter({
    ignoreTrailingSlash: true,
    defaultRoute: (request, response) => {
      const isKnown = known.includes(pathOf(request));
      if (isKnown) response.setHeader('Allow', 'GET, HEAD');
      sendText(response, isKnown ? 405 : 404, isKnown ? 'Method Not Allowed\n' : '404 page not found\n');
    },
  });
  const get = (path: string, answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>) => {
    known.push(path);
    router.on(['GET', 'HEAD'], path, (request, response) => {
      // A handler that fails costs that one answer and nothing else.
      Promise.resolve()
        .then(() => answer(request, response))
        .catch((error: unknown) => sendText(response, 500, `internal server error: ${errorText(error)}\n`));
    });
  };

  get('/healthz', (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://local');
    const { status, body } = allHealth(healthChecks, searchParams);
    sendText(response, status, body);
  });
  for (const [name, check] of Object.entries(healthChecks)) {
    get(`/healthz/${name}`, (_request, response) => {
      const { status, body } = oneHealth(check);
      sendText(response, status, body);
    });
  }
  get('/pods', (_request, response) => {
    const items = pods();
    const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: items.length === 0 ? null : items };
    send(response, 200, 'application/json', `${JSON.stringify(list)}\n`);
  });
  get('/metrics', async (_request, response) => {
    send(response, 200, metrics.contentType, await metrics.metrics());
  });
  if (probeMetrics) {
    get('/metrics/probes', async (_request, response) => {
      send(response, 200, probeMetrics.contentType, await probeMetrics.metrics());
    });
  }
  return router;
};

const pathOf = ({ url = '/' }: IncomingMessage): string => url.replace(/[?;].*$/s, '').replace(/(.)\/$/, '$1');

const sendText = (response: ServerResponse, status: number, body: string): void =>
  send(response, status, 'text/plain; charset=utf-8', body);

const send = (response: ServerResponse, status: number, type: string, body: string): void => {
  if (response.headersSent) return;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'X-Content-Type-Options': 'nosniff',
  });
  // Node leaves the body of an answer to HEAD out by itself.
  response.end(body);
};
