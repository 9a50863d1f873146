import { chmodSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createServer } from 'node:http';
import type { Observable, SchedulerLike } from 'rxjs';
import { makeDirectoriesSync } from '../processes/make-directories.js';
import { answerStreams, type StreamView } from './streaming/answer-streams.js';
import { answerUpgrades } from './streaming/answer-upgrades.js';
import { answerBy } from './routes/http-routes.js';
import { nodeRoutes, type NodeRoutesOptions } from './routes/kubelet-routes.js';
import { listenWhile, type ServerEvent } from './listening/listen-while.js';

export interface AgentServerOptions extends NodeRoutesOptions {
  /** The path of the socket, in a folder that only this user can open. A file at this path is replaced. */
  readonly socketPath: string;
  /** Exec, attach and port-forward; the pods are those of `pods`. Without them their paths do not exist. */
  readonly streams?: Omit<StreamView, 'pods'>;
  /** Resolves when the pods are known: replies with pods wait for it. */
  readonly known?: () => Promise<unknown>;
  readonly scheduler?: SchedulerLike;
}

/** A command is part of the URL of its request. Source: pkg/kubelet/server/server.go ListenAndServeKubeletServer */
const MAX_HEADER_BYTES = 2 ** 20;

/**
 * Serves pods, metrics and streams over plain HTTP on a unix socket from subscribing to unsubscribing. Pods contain the values
 * of environment variables, and a stream runs commands in them, so only the user of this process, and root, can connect. Emits as `listenWhile` does.
 *
 * Source: pkg/kubelet/server/server.go, whose port authenticates its clients.
 */
export const agentServer = ({
  socketPath,
  scheduler,
  streams,
  known = () => Promise.resolve(),
  ...inputs
}: AgentServerOptions): Observable<ServerEvent> => {
  const nodes = nodeRoutes(inputs);
  const routes = answerBy({ ...nodes, '/pods': (request) => known().then(() => nodes['/pods']!(request)) });
  return listenWhile({
    scheduler,
    answer: streams ? answerStreams({ ...streams, pods: inputs.pods }, routes) : routes,
    create: (limits, answer) => {
      const server = createServer({ ...limits, maxHeaderSize: MAX_HEADER_BYTES }, answer);
      answerUpgrades(server, answer);
      return server;
    },
    listen: (server, listening) => {
      const folder = dirname(socketPath);
      makeDirectoriesSync(folder, 0o700);
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
};
