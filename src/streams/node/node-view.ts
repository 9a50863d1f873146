import { defer, ignoreElements, type Observable, of, Subject, take, tap } from 'rxjs';
import { nodesPath } from '../../model/kube-api/api-paths.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import { afterDeletion, newestNode } from '../../model/node/newest-node.js';
import type { Node } from '../../model/node/node.js';
import { reflector, type ReflectorPorts } from '../reflector/reflector.js';

/** The Node of this agent in the API server. */
export interface NodeView {
  /** Watches the Node; emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
  /** The newest known version of the Node; undefined while there is none. */
  readonly node: () => Node | undefined;
  /** Takes the answer to a write, which may be newer than the version of the watch. */
  readonly note: (node: Node) => void;
  /** Emits once it is known whether the API server has the Node, and completes. */
  readonly synced$: Observable<void>;
  /** Emits after each deletion of the Node. */
  readonly deleted$: Observable<void>;
}

/**
 * Makes the view of the Node of a name.
 *
 * Source: pkg/kubelet/kubelet.go nodeLister, nodeHasSynced
 */
export const nodeView = (ports: ReflectorPorts, nodeName: string): NodeView => {
  const sync$ = new Subject<void>();
  const deletion$ = new Subject<void>();
  let newest: Node | undefined;
  let isSynced = false;

  const miss = (resourceVersion: string | undefined): void => {
    const before = newest;
    newest = afterDeletion(newest, resourceVersion);
    if (before && !newest) deletion$.next();
  };
  const observe = (event: ReflectorEvent<Node>): void => {
    if (event.kind === 'put') newest = newestNode(newest, event.object);
    if (event.kind === 'deleted') miss(event.object.metadata.resourceVersion);
    if (event.kind !== 'replaced') return;
    const [listed] = event.objects;
    if (listed) newest = listed;
    else miss(event.resourceVersion);
    if (isSynced) return;
    isSynced = true;
    sync$.next();
  };

  return {
    run$: reflector<Node>(ports, {
      path: nodesPath(),
      fieldSelector: `metadata.name=${nodeName}`,
      name: 'node',
    }).pipe(tap(observe), ignoreElements()),
    node: () => newest,
    note: (node) => (newest = newestNode(newest, node)),
    synced$: defer(() => (isSynced ? of(undefined) : sync$.pipe(take(1)))),
    deleted$: deletion$,
  };
};
