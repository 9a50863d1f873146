import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '../../src/model/kube-api/api-error.js';
import type { JsonObject } from '../../src/model/kube-api/strategic-merge-patch.js';
import type { ApiRequest } from '../../src/streams/ports/api-server.js';
import { fakeObjects, isIn, type ObjectChange } from '../../test/support/fake-objects.js';

export interface StubRequest {
  /** The time of the end of the request, in Unix milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export interface ApiStub {
  readonly url: string;
  readonly requests: readonly StubRequest[];
  /** Creates an object, as a client does. */
  readonly create: (collection: string, object: JsonObject) => void;
  readonly find: (path: string) => JsonObject | undefined;
  /** Sends a text unchanged to all watches of the collection. */
  readonly say: (collection: string, text: string) => void;
  /** Answers the next list of the collection with a text, unchanged. */
  readonly listNext: (collection: string, text: string) => void;
  readonly close: () => void;
}

/**
 * The calls of an API server that an agent needs, in memory and over HTTP on loopback. It answers at once, so that a benchmark measures
 * the agent.
 */
export const apiStub = async (): Promise<ApiStub> => {
  const changes: ObjectChange[] = [];
  const watches = new Set<{
    readonly collection: string;
    readonly response: ServerResponse;
    readonly send: (change: ObjectChange) => void;
  }>();
  const lists = new Map<string, string>();
  const requests: StubRequest[] = [];
  const objects = fakeObjects({
    // A list of version 0 would be one of any version.
    firstVersion: 1,
    stamp: (path, created) => {
      const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
      return {
        ...(namespace !== undefined && { namespace }),
        uid: `00000000-0000-4000-8000-${String(created).padStart(12, '0')}`,
        creationTimestamp: `${new Date().toISOString().slice(0, -5)}Z`,
        generation: 1,
      };
    },
    changed: (change) => {
      changes.push(change);
      for (const watch of watches) if (isIn(change.path, watch.collection)) watch.send(change);
    },
  });

  const watch = (collection: string, from: number, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const send = ({ type, object }: ObjectChange) => response.write(`${JSON.stringify({ type, object })}\n`);
    for (const change of changes) if (change.version > from && isIn(change.path, collection)) send(change);
    const entry = { collection, response, send };
    watches.add(entry);
    response.on('close', () => watches.delete(entry));
  };

  const answer = (request: Pick<ApiRequest, 'method' | 'path' | 'body'>): readonly [code: number, body: unknown] => {
    try {
      return [request.method === 'POST' ? 201 : 200, objects.answer(request)];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code = 500, reason, message } = error;
      return [code, { kind: 'Status', code, reason, message }];
    }
  };

  const server = createServer((request, response) => {
    void read(request).then((text) => {
      const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://stub');
      const { method = 'GET' } = request;
      const body = (text === '' ? {} : JSON.parse(text)) as JsonObject;
      requests.push({ at: performance.timeOrigin + performance.now(), method, path, body });
      if (searchParams.get('watch') === 'true') {
        watch(path, Number(searchParams.get('resourceVersion') ?? 0), response);
        return;
      }
      const list = method === 'GET' ? lists.get(path) : undefined;
      if (list !== undefined) {
        lists.delete(path);
        response.writeHead(200, { 'content-type': 'application/json' }).end(list);
        return;
      }
      const [code, answered] = answer({ method: method as ApiRequest['method'], path, body });
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    create: (path, body) => void objects.answer({ method: 'POST', path, body }),
    find: objects.find,
    say: (collection, text) => {
      for (const watch of watches) if (watch.collection === collection) watch.response.write(text);
    },
    listNext: (collection, text) => void lists.set(collection, text),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};
