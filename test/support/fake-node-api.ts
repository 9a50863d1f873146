import { concat, defer, type Observable, of, type SchedulerLike, Subject, throwError } from 'rxjs';
import { ApiError } from '../../src/model/kube-api/api-error.js';
import { leasePath, leasesPath, nodePath, nodesPath } from '../../src/model/kube-api/api-paths.js';
import type { JsonObject } from '../../src/model/kube-api/strategic-merge-patch.js';
import type { Lease } from '../../src/model/node/lease.js';
import type { Node } from '../../src/model/node/node.js';
import type { ApiServer, ApiWatchMessage } from '../../src/streams/ports/api-server.js';
import { fakeObjects } from './fake-objects.js';

/** An API server with one Node and its lease. Both may also be set, without a new version and without a watch. */
export interface FakeNodeApi {
  readonly api: ApiServer;
  /** Requests as `<ms> <method> <what>`: `nodes`, `node`, `status`, `leases`, `lease`. */
  readonly history: string[];
  /** Bodies of patches, oldest first. */
  readonly patches: JsonObject[];
  node: Node | undefined;
  lease: Lease | undefined;
  /** The reply to `<method> <what>` instead of that of the server: an error, or one that takes time; undefined for that of the server. */
  answer: (what: string) => Observable<never> | undefined;
  /** Writes the Node as another client does; watches are notified. */
  readonly write: (node: Node) => void;
  readonly remove: () => void;
}

export const status = (code: number, reason: string): Observable<never> =>
  throwError(() => new ApiError({ code, reason, message: reason }));

const NODE = nodePath('node-1');
const LEASE = leasePath('kube-node-lease', 'node-1');
const WHAT: Readonly<Record<string, string>> = {
  [nodesPath()]: 'nodes',
  [NODE]: 'node',
  [`${NODE}/status`]: 'status',
  [leasesPath('kube-node-lease')]: 'leases',
  [LEASE]: 'lease',
};

export const fakeNodeApi = (scheduler: SchedulerLike): FakeNodeApi => {
  const watch$ = new Subject<ApiWatchMessage>();
  let made = 0;
  const objects = fakeObjects({
    stamp: (path) => ({ uid: path === LEASE ? 'lease-1' : `uid-${++made}` }),
    changed: ({ type, path, object }) => {
      if (path === NODE) watch$.next({ kind: 'event', type, object });
    },
  });
  const patches: JsonObject[] = [];

  const fake: FakeNodeApi = {
    history: [],
    patches,
    get node() {
      return objects.find(NODE) as Node | undefined;
    },
    set node(node) {
      objects.set(NODE, node);
    },
    get lease() {
      return objects.find(LEASE) as Lease | undefined;
    },
    set lease(lease) {
      objects.set(LEASE, lease);
    },
    answer: () => undefined,
    write: (node) => void objects.write(NODE, node),
    remove: () => void objects.remove(NODE),
    api: {
      request: (request) =>
        defer(() => {
          const what = WHAT[request.path] ?? request.path;
          const line = `${request.method} ${what}`;
          fake.history.push(`${scheduler.now()} ${line}`);
          const instead$ = fake.answer(line);
          if (instead$) return instead$;
          if (line === 'PATCH status' && fake.node) patches.push(request.body as JsonObject);
          return of(objects.answer(request));
        }),
      watch: () => concat(of<ApiWatchMessage>({ kind: 'opened' }), watch$),
    },
  };
  return fake;
};
