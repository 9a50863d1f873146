import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Registry } from 'prom-client';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Pod } from '../model/pod/pod.js';
import { answerBy, type Routes } from './http-routes.js';
import { listenWhile, type ServerEvent } from './listen-while.js';

export interface AgentServerOptions {
  /** The path of the socket, in a folder that only this user can open. A file at this path is replaced. */
  readonly socketPath: string;
  readonly pods: () => readonly Pod[];
  readonly metrics: Registry;
  /** The registry of `/metrics/probes`; without one the path does not exist. */
  readonly probeMetrics?: Registry;
  readonly scheduler?: SchedulerLike;
}

/**
 * Serves pods and metrics over plain HTTP on a unix socket from subscribing to unsubscribing. Pods contain the values
 * of environment variables, so only the user of this process, and root, can connect. Emits as `listenWhile` does.
 *
 * Source: pkg/kubelet/server/server.go, whose port authenticates its clients.
 */
export const agentServer = ({ socketPath, scheduler, ...inputs }: AgentServerOptions): Observable<ServerEvent> =>
  listenWhile({
    scheduler,
    answer: answerBy(routesOf(inputs)),
    listen: (server, listening) => {
      const folder = dirname(socketPath);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Before the socket exists: between its creation and a change of its mode another user could connect.
      chmodSync(folder, 0o700);
      rmSync(socketPath, { force: true });
      server.listen(socketPath, () => {
        try {
          chmodSync(socketPath, 0o600);
        } catch (error) {
          // An error thrown by a callback is not caught, and would end the agent.
          server.emit('error', error);
          return;
        }
        listening(socketPath);
      });
    },
  });

type Inputs = Pick<AgentServerOptions, 'pods' | 'metrics' | 'probeMetrics'>;

const routesOf = ({ pods, metrics, probeMetrics }: Inputs): Routes => ({
  '/pods': () => {
    const items = pods();
    const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: items.length === 0 ? null : items };
    return { status: 200, type: 'application/json', body: `${JSON.stringify(list)}\n` };
  },
  '/metrics': metricsOf(metrics),
  ...(probeMetrics && { '/metrics/probes': metricsOf(probeMetrics) }),
});

const metricsOf =
  (registry: Registry): Routes[string] =>
  async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() });
