import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ApiError } from '../../src/model/kube-api/api-error.js';
import { type SimulatedApiServer, simulatedApiServer } from '../../src/tools/sim/api-server/simulated-api-server.js';
import { seededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';
import type { ApiRequest } from '../../src/streams/ports/api-server.js';

export interface ApiOverHttp {
  readonly url: string;
  readonly port: number;
  /** As an administrator sees it. */
  readonly server: SimulatedApiServer;
  readonly close: () => void;
}

/** Returns what the node gets instead of the answer to a request. */
export type AlterAnswer = (request: ApiRequest, answer: unknown) => unknown;

/** The API server in memory for one node, over HTTP and in real time. */
export const apiOverHttp = async (node: string, alter: AlterAnswer = (_, answer) => answer): Promise<ApiOverHttp> => {
  const startMs = Date.now();
  const scheduler = new VirtualScheduler({ startMs });
  const server = simulatedApiServer({ scheduler, random: seededRandom('api over http') });
  const clock = setInterval(() => scheduler.runUntil(Date.now()), 2);
  const api = server.connect({ kind: 'node', node });

  const answer = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname: path, searchParams } = new URL(asked.url ?? '/', 'http://api');
    const { watch, ...query } = Object.fromEntries(searchParams);
    const fail = (error: unknown): void => {
      if (!(error instanceof ApiError) || error.code === undefined || response.headersSent) {
        response.destroy();
        return;
      }
      const { code, reason, message } = error;
      response.writeHead(code, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }));
    };
    if (watch === 'true') {
      const watching = api.watch({ path, query }).subscribe({
        next: (message) => {
          if (message.kind === 'opened') {
            response.writeHead(200, { 'Content-Type': 'application/json' });
            response.flushHeaders();
          } else response.write(`${JSON.stringify({ type: message.type, object: message.object })}\n`);
        },
        error: fail,
        complete: () => response.end(),
      });
      response.on('close', () => watching.unsubscribe());
      return;
    }
    const body = await text(asked);
    const request: ApiRequest = {
      method: asked.method as ApiRequest['method'],
      path,
      query,
      ...(body !== '' && { body: JSON.parse(body) as unknown }),
      ...(asked.headers['content-type'] !== undefined && { contentType: asked.headers['content-type'] }),
    };
    api.request(request).subscribe({
      next: (found) => {
        response.writeHead(request.method === 'POST' ? 201 : 200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(alter(request, found)));
      },
      error: fail,
    });
  };
  const listener = createServer((asked, response) => {
    answer(asked, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    ...{ server, port, url: `http://127.0.0.1:${port}` },
    close: () => {
      clearInterval(clock);
      listener.close();
      listener.closeAllConnections();
    },
  };
};
