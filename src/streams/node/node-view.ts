import {
  BehaviorSubject,
  distinctUntilChanged,
  filter,
  ignoreElements,
  map,
  type Observable,
  pairwise,
  take,
  tap,
} from 'rxjs';
import { nodesPath } from '../../model/kube-api/api-paths.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import { newestAfter, newestNode } from '../../model/node/newest-node.js';
import type { Node } from '../../model/node/node.js';
import { reflector, type ReflectorPorts } from '../reflector/reflector.js';

/** The Node of this agent in the API server. */
export interface NodeView {
  /** Watches the Node; emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
  /** The newest known version of the Node; undefined while there is none. */
  readonly node: () => Node | undefined;
  /** The present `node` at once, then each change of it. Errors: none. Ends: never. */
  readonly node$: Observable<Node | undefined>;
  /** Takes the answer to a write, which may be newer than the version of the watch. */
  readonly note: (node: Node) => void;
  /** Emits once it is known whether the API server has the Node, and completes. */
  readonly synced$: Observable<void>;
  /** Emits after each deletion of the Node. */
  readonly deleted$: Observable<void>;
}

interface KnownNode {
  /** The newest known version; undefined while there is none. */
  readonly node: Node | undefined;
  /** Whether it is known if the API server has the Node. */
  readonly isSynced: boolean;
}

/**
 * Makes the view of the Node of a name.
 *
 * Source: pkg/kubelet/kubelet.go nodeLister, nodeHasSynced
 */
export const nodeView = (ports: ReflectorPorts, nodeName: string): NodeView => {
  const known$ = new BehaviorSubject<KnownNode>({ node: undefined, isSynced: false });
  const set = (fields: Partial<KnownNode>): void => known$.next({ ...known$.value, ...fields });
  const node$ = known$.pipe(
    map(({ node }) => node),
    distinctUntilChanged(),
  );

  const observe = (event: ReflectorEvent<Node>): void => {
    set({ node: newestAfter(known$.value.node, event) });
    // Then, so that `node$` has emitted before `synced$` does.
    if (event.kind === 'replaced') set({ isSynced: true });
  };

  return {
    run$: reflector<Node>(ports, {
      path: nodesPath(),
      fieldSelector: `metadata.name=${nodeName}`,
      name: 'node',
    }).pipe(tap(observe), ignoreElements()),
    node: () => known$.value.node,
    node$,
    note: (node) => set({ node: newestNode(known$.value.node, node) }),
    synced$: known$.pipe(
      filter(({ isSynced }) => isSynced),
      take(1),
      map(() => undefined),
    ),
    deleted$: node$.pipe(
      pairwise(),
      filter(([before, after]) => before !== undefined && after === undefined),
      map(() => undefined),
    ),
  };
};
