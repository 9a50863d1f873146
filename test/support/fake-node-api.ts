import { concat, defer, type Observable, of, type SchedulerLike, Subject, throwError } from 'rxjs';
import { ApiError } from '../../src/model/kube-api/api-error.js';
import {
  applyStrategicMergePatch,
  type JsonObject,
  NODE_MERGE_KEYS,
} from '../../src/model/kube-api/strategic-merge-patch.js';
import type { Lease } from '../../src/model/node/lease.js';
import type { Node } from '../../src/model/node/node.js';
import type { ApiRequest, ApiServer, ApiWatchMessage } from '../../src/streams/ports/api-server.js';

/** An API server that has one Node and its lease. */
export interface FakeNodeApi {
  readonly api: ApiServer;
  /** Requests as `<ms> <method> <what>`: `nodes`, `node`, `status`, `leases`, `lease`. */
  readonly history: string[];
  /** Bodies of patches, oldest first. */
  readonly patches: JsonObject[];
  node: Node | undefined;
  lease: Lease | undefined;
  /** Instead of an answer to `<method> <what>`: an error, or something that takes time. */
  answer: (what: string) => Observable<never> | undefined;
  /** Writes the Node as somebody else does it, and tells who watches. */
  readonly write: (node: Node) => void;
  readonly remove: () => void;
}

export const status = (code: number, reason: string): Observable<never> =>
  throwError(() => new ApiError({ code, reason, message: reason }));

const WHAT: Readonly<Record<string, string>> = {
  '/api/v1/nodes': 'nodes',
  '/api/v1/nodes/node-1': 'node',
  '/api/v1/nodes/node-1/status': 'status',
  '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases': 'leases',
  '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1': 'lease',
};

export const fakeNodeApi = (scheduler: SchedulerLike): FakeNodeApi => {
  const watch$ = new Subject<ApiWatchMessage>();
  let version = 0;
  let made = 0;
  const tell = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: unknown): void =>
    watch$.next({ kind: 'event', type, object });
  /** As it comes over the wire, in a version of its own. */
  const stored = <T extends Node | Lease>(object: T, uid?: string): T => {
    const copy = JSON.parse(JSON.stringify(object)) as T;
    return { ...copy, metadata: { ...copy.metadata, ...(uid && { uid }), resourceVersion: String(++version) } };
  };

  const take = ({ method, body }: ApiRequest, what: string): Observable<unknown> => {
    switch (`${method} ${what}`) {
      case 'GET nodes':
        return of({ metadata: { resourceVersion: String(version) }, items: fake.node ? [fake.node] : [] });
      case 'POST nodes':
        if (fake.node) return status(409, 'AlreadyExists');
        fake.node = stored(body as Node, `uid-${++made}`);
        tell('ADDED', fake.node);
        return of(fake.node);
      case 'GET node':
        return fake.node ? of(fake.node) : status(404, 'NotFound');
      case 'PATCH status': {
        if (!fake.node) return status(404, 'NotFound');
        fake.patches.push(body as JsonObject);
        const patched = applyStrategicMergePatch(
          fake.node as unknown as JsonObject,
          body as JsonObject,
          NODE_MERGE_KEYS,
        );
        fake.write(patched as unknown as Node);
        return of(fake.node);
      }
      case 'GET lease':
        return fake.lease ? of(fake.lease) : status(404, 'NotFound');
      case 'POST leases':
        fake.lease = stored(body as Lease, 'lease-1');
        return of(fake.lease);
      case 'PUT lease':
        if (!fake.lease) return status(404, 'NotFound');
        if ((body as Lease).metadata.resourceVersion !== fake.lease.metadata.resourceVersion)
          return status(409, 'Conflict');
        fake.lease = stored(body as Lease);
        return of(fake.lease);
      default:
        return status(405, 'MethodNotAllowed');
    }
  };

  const fake: FakeNodeApi = {
    history: [],
    patches: [],
    node: undefined,
    lease: undefined,
    answer: () => undefined,
    write: (node) => {
      fake.node = stored(node);
      tell('MODIFIED', fake.node);
    },
    remove: () => {
      const gone = fake.node && stored(fake.node);
      fake.node = undefined;
      if (gone) tell('DELETED', gone);
    },
    api: {
      request: (request) =>
        defer(() => {
          const what = WHAT[request.path] ?? request.path;
          const line = `${request.method} ${what}`;
          fake.history.push(`${scheduler.now()} ${line}`);
          return fake.answer(line) ?? take(request, what);
        }),
      watch: () => concat(of<ApiWatchMessage>({ kind: 'opened' }), watch$),
    },
  };
  return fake;
};
