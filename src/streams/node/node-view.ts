import { defer, ignoreElements, type Observable, of, Subject, take, tap } from 'rxjs';
import { nodesPath } from '../../model/api/api-paths.js';
import type { ReflectorEvent } from '../../model/api/reflector-event.js';
import { afterDeletion, newestNode } from '../../model/node/newest-node.js';
import type { Node } from '../../model/node/node.js';
import { reflector, type ReflectorPorts } from '../api/reflector.js';

/** This agent's own Node, as the API server has it. */
export interface NodeView {
  /** Follows it; emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
  /** The newest that is known of it; undefined while there is none. */
  readonly node: () => Node | undefined;
  /** Takes in the answer to a write, which may be newer than what the watch has said. */
  readonly note: (node: Node) => void;
  /** Emits once it is known whether there is one, and completes. */
  readonly synced$: Observable<void>;
  /** Emits whenever it has been deleted. */
  readonly deleted$: Observable<void>;
}

/**
 * Follows the Node of that name.
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
