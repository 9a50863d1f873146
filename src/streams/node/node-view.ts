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
import { afterDeletion, newestNode } from '../../model/node/newest-node.js';
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

/**
 * Makes the view of the Node of a name.
 *
 * Source: pkg/kubelet/kubelet.go nodeLister, nodeHasSynced
 */
export const nodeView = (ports: ReflectorPorts, nodeName: string): NodeView => {
  const newest$ = new BehaviorSubject<Node | undefined>(undefined);
  const isSynced$ = new BehaviorSubject(false);
  const node$ = newest$.pipe(distinctUntilChanged());

  const observe = (event: ReflectorEvent<Node>): void => {
    newest$.next(newestAfter(newest$.value, event));
    if (event.kind === 'replaced') isSynced$.next(true);
  };

  return {
    run$: reflector<Node>(ports, {
      path: nodesPath(),
      fieldSelector: `metadata.name=${nodeName}`,
      name: 'node',
    }).pipe(tap(observe), ignoreElements()),
    node: () => newest$.value,
    node$,
    note: (node) => newest$.next(newestNode(newest$.value, node)),
    synced$: isSynced$.pipe(
      filter((isSynced) => isSynced),
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

/** Returns the newest version after an event of the watch. */
const newestAfter = (newest: Node | undefined, event: ReflectorEvent<Node>): Node | undefined => {
  switch (event.kind) {
    case 'put':
      return newestNode(newest, event.object);
    case 'deleted':
      return afterDeletion(newest, event.object.metadata.resourceVersion);
    case 'replaced':
      return event.objects[0] ?? afterDeletion(newest, event.resourceVersion);
    default:
      return newest;
  }
};
