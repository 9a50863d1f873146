import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  applyStrategicMergePatch,
  type JsonObject,
  NODE_MERGE_KEYS,
  POD_MERGE_KEYS,
} from '../../src/model/kube-api/strategic-merge-patch.js';

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

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly path: string;
  readonly object: JsonObject;
}

const COLLECTION = /\/(nodes|pods|services|secrets|configmaps|leases|runtimeclasses|events|csidrivers)$/;

/**
 * The calls of an API server that an agent needs, in memory and over HTTP on loopback. It has no users, no validation and no selectors, and
 * answers at once, so that a benchmark measures the agent.
 */
export const apiStub = async (): Promise<ApiStub> => {
  const objects = new Map<string, JsonObject>();
  const changes: Change[] = [];
  const watches = new Set<{
    readonly collection: string;
    readonly response: ServerResponse;
    readonly send: (change: Change) => void;
  }>();
  const lists = new Map<string, string>();
  const requests: StubRequest[] = [];
  let version = 1;

  const metadataOf = (object: JsonObject): JsonObject => (object['metadata'] ?? {}) as JsonObject;
  const store = (type: Change['type'], path: string, given: JsonObject): JsonObject => {
    version += 1;
    const object = { ...given, metadata: { ...metadataOf(given), resourceVersion: String(version) } };
    if (type === 'DELETED') objects.delete(path);
    else objects.set(path, object);
    const change = { version, type, path, object };
    changes.push(change);
    for (const watch of watches) if (isIn(path, watch.collection)) watch.send(change);
    return object;
  };
  const create = (collection: string, object: JsonObject): JsonObject => {
    const namespace = /\/namespaces\/([^/]+)\//.exec(collection)?.[1];
    const metadata = {
      ...(namespace !== undefined && { namespace }),
      ...metadataOf(object),
      uid: `00000000-0000-4000-8000-${String(version).padStart(12, '0')}`,
      creationTimestamp: `${new Date().toISOString().slice(0, -5)}Z`,
      generation: 1,
    };
    return store('ADDED', `${collection}/${String(metadataOf(object)['name'])}`, { ...object, metadata });
  };

  const watch = (collection: string, from: number, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const send = ({ type, object }: Change) => response.write(`${JSON.stringify({ type, object })}\n`);
    for (const change of changes) if (change.version > from && isIn(change.path, collection)) send(change);
    const entry = { collection, response, send };
    watches.add(entry);
    response.on('close', () => watches.delete(entry));
  };

  const answer = (method: string, path: string, body: JsonObject): readonly [code: number, body: unknown] => {
    if (COLLECTION.test(path)) {
      if (method === 'POST') return [201, path.endsWith('/events') ? body : create(path, body)];
      const items = [...objects].filter(([key]) => isIn(key, path)).map(([, object]) => object);
      return [200, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: String(version) }, items }];
    }
    const key = path.replace(/\/status$/, '');
    const object = objects.get(key);
    if (!object) return [404, { kind: 'Status', code: 404, reason: 'NotFound', message: `${path} not found` }];
    switch (method) {
      case 'PUT':
        return [200, store('MODIFIED', key, body)];
      case 'PATCH': {
        const { metadata, ...patch } = body;
        const wanted = (metadata as JsonObject | undefined)?.['resourceVersion'];
        if (wanted !== undefined && wanted !== metadataOf(object)['resourceVersion']) {
          return [409, { kind: 'Status', code: 409, reason: 'Conflict', message: 'the object has been modified' }];
        }
        const keys = key.includes('/nodes/') ? NODE_MERGE_KEYS : POD_MERGE_KEYS;
        return [200, store('MODIFIED', key, applyStrategicMergePatch(object, patch, keys))];
      }
      case 'DELETE':
        return [200, store('DELETED', key, object)];
      default:
        return [200, object];
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
      const [code, answered] = answer(method, path, body);
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    create: (collection, object) => void create(collection, object),
    find: (path) => objects.get(path),
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

/** Whether the object is in the collection; a collection of all namespaces has the objects of each. */
const isIn = (path: string, collection: string): boolean => {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return folder === collection || folder.replace(/\/namespaces\/[^/]+/, '') === collection;
};

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};
