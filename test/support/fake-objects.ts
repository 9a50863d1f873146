import { ApiError } from '../../src/model/kube-api/api-error.js';
import {
  applyStrategicMergePatch,
  type JsonObject,
  NODE_MERGE_KEYS,
  POD_MERGE_KEYS,
} from '../../src/model/kube-api/strategic-merge-patch.js';
import type { ApiRequest } from '../../src/streams/ports/api-server.js';

export interface ObjectChange {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The path of the object. */
  readonly path: string;
  readonly object: JsonObject;
}

export interface FakeObjectsOptions {
  /** The metadata that the server adds to a created object, by its path and the number of objects created before. */
  readonly stamp: (path: string, created: number) => JsonObject;
  /** What the server keeps of a patched object. */
  readonly keeps?: (object: JsonObject) => JsonObject;
  readonly changed?: (change: ObjectChange) => void;
  /** The version before the first write. Default: 0. */
  readonly firstVersion?: number;
}

/** The objects of an API server in memory, without users, validation, selectors and time. A version is a number that grows. */
export interface FakeObjects {
  /** Carries out a request at once. Errors: `ApiError`. */
  readonly answer: (request: Pick<ApiRequest, 'method' | 'path' | 'body'>) => JsonObject;
  readonly find: (path: string) => JsonObject | undefined;
  /** Writes an object in a new version, as another client does. */
  readonly write: (path: string, object: object) => JsonObject;
  /** Sets or removes an object as it is: no version is new, and no watch is notified. */
  readonly set: (path: string, object: object | undefined) => void;
  /** Removes an object, as another client does. */
  readonly remove: (path: string) => JsonObject | undefined;
}

const COLLECTION = /\/(nodes|pods|services|secrets|configmaps|leases|runtimeclasses|events|csidrivers)$/;

export const fakeObjects = ({
  stamp,
  keeps = (object) => object,
  changed = () => undefined,
  firstVersion = 0,
}: FakeObjectsOptions): FakeObjects => {
  const objects = new Map<string, JsonObject>();
  let version = firstVersion;
  let created = 0;

  const store = (type: ObjectChange['type'], path: string, given: object): JsonObject => {
    version += 1;
    const copy = JSON.parse(JSON.stringify(given)) as JsonObject;
    const object = { ...copy, metadata: { ...metadataOf(copy), resourceVersion: String(version) } };
    if (type === 'DELETED') objects.delete(path);
    else objects.set(path, object);
    changed({ version, type, path, object });
    return object;
  };
  /** The object that a request means. */
  const found = (path: string, { uid, resourceVersion }: Precondition): JsonObject => {
    const object = objects.get(path);
    if (!object) throw refusal(404, 'NotFound', `${path} not found`);
    const metadata = metadataOf(object);
    const isMeant = (uid ?? metadata['uid']) === metadata['uid'];
    if (isMeant && (resourceVersion ?? metadata['resourceVersion']) === metadata['resourceVersion']) return object;
    throw refusal(409, 'Conflict', 'the object has been modified');
  };
  const create = (collection: string, body: JsonObject): JsonObject => {
    if (collection.endsWith('/events')) return body;
    const path = `${collection}/${String(metadataOf(body)['name'])}`;
    if (objects.has(path)) throw refusal(409, 'AlreadyExists', `${path} already exists`);
    const metadata = { ...metadataOf(body), ...stamp(path, created) };
    created += 1;
    return store('ADDED', path, { ...body, metadata });
  };
  const patch = (path: string, body: JsonObject): JsonObject => {
    const { uid, resourceVersion, ...metadata } = metadataOf(body);
    const before = found(path, { uid, resourceVersion });
    const keys = path.includes('/nodes/') ? NODE_MERGE_KEYS : POD_MERGE_KEYS;
    const original = { ...before, ...('status' in body && { status: before['status'] ?? {} }) };
    return store('MODIFIED', path, keeps(applyStrategicMergePatch(original, { ...body, metadata }, keys)));
  };

  return {
    find: (path) => objects.get(path),
    write: (path, object) => store(objects.has(path) ? 'MODIFIED' : 'ADDED', path, object),
    set: (path, object) => void (object ? objects.set(path, object as JsonObject) : objects.delete(path)),
    remove: (path) => {
      const object = objects.get(path);
      return object && store('DELETED', path, object);
    },
    answer: ({ method, path: asked, body: given = {} }) => {
      const body = given as JsonObject;
      const path = asked.replace(/\/status$/, '');
      if (COLLECTION.test(path)) {
        if (method === 'POST') return create(path, body);
        const items = [...objects].filter(([key]) => isIn(key, path)).map(([, object]) => object);
        return { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: String(version) }, items };
      }
      switch (method) {
        case 'GET':
          return found(path, {});
        case 'PUT':
          found(path, metadataOf(body));
          return store('MODIFIED', path, body);
        case 'PATCH':
          return patch(path, body);
        case 'DELETE':
          return store('DELETED', path, found(path, body['preconditions'] ?? {}));
        default:
          throw refusal(405, 'MethodNotAllowed', `${method} ${path}`);
      }
    },
  };
};

interface Precondition {
  readonly uid?: unknown;
  readonly resourceVersion?: unknown;
}

const metadataOf = (object: JsonObject): JsonObject => (object['metadata'] ?? {}) as JsonObject;

const refusal = (code: number, reason: string, message: string): ApiError => new ApiError({ code, reason, message });

/** Whether the object is in the collection. The collection of all namespaces has the objects of each. */
export const isIn = (path: string, collection: string): boolean => {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return folder === collection || folder.replace(/\/namespaces\/[^/]+/, '') === collection;
};
