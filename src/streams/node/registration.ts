import {
  catchError,
  concatMap,
  defer,
  ignoreElements,
  map,
  type Observable,
  of,
  retry,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isAlreadyExists, isForbidden } from '../../model/api/api-error.js';
import { nodePath, nodesPath, nodeStatusPath } from '../../model/api/api-paths.js';
import { errorText } from '../../model/cri-error.js';
import { initialNode } from '../../model/node/initial-node.js';
import type { Node } from '../../model/node/node.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import type { NodeEvent, NodeStatusFacts } from '../../model/node/node-status.js';
import { reconcileNode } from '../../model/node/reconcile-node.js';
import { nodeStatusPatch } from '../../model/node/update-node.js';
import type { ApiClient } from '../api/api-client.js';
import type { Logger } from '../ports.js';
import type { NodeStartup } from './node-startup.js';

/** Source: pkg/kubelet/kubelet_node_status.go registerWithAPIServer. Milliseconds. */
export const REGISTER_INITIAL_MS = 100;
export const REGISTER_MAX_MS = 7_000;

export interface RegistrationOptions {
  readonly client: Pick<ApiClient, 'get' | 'create' | 'patch'>;
  /** Emits once for each subscription. */
  readonly facts$: Observable<NodeStatusFacts>;
  readonly settings: NodeObjectSettings;
  readonly startup: NodeStartup;
  /** Hears the Node as the API server has it. */
  readonly note: (node: Node) => void;
  readonly tell: (event: NodeEvent) => void;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/**
 * Completes once the API server has a Node of this agent: a new one, or one that was there and is brought up to date. The first attempt
 * comes after 100 ms, and each further one after twice the wait of the one before, 7 s at most.
 *
 * Errors: none; what goes wrong is said and tried again.
 * Source: pkg/kubelet/kubelet_node_status.go registerWithAPIServer, tryRegisterWithAPIServer
 */
export const registration = ({
  client,
  facts$,
  settings,
  startup,
  note,
  tell,
  log,
  scheduler,
}: RegistrationOptions): Observable<never> => {
  const { nodeName: node } = settings;

  const reconcile = (initial: Node): Observable<Node> =>
    client.get<Node>(nodePath(node)).pipe(
      concatMap((existing) => {
        const patch = nodeStatusPatch(existing, reconcileNode(initial, existing));
        return patch === undefined ? of(existing) : client.patch<Node>(nodeStatusPath(node), patch);
      }),
      tap(() => {
        startup.found();
        log.info({ node }, 'the Node was registered before');
      }),
    );

  const attempt = (facts: NodeStatusFacts): Observable<Node> => {
    const { node: initial, events, problems } = initialNode(settings, facts);
    for (const problem of problems) log.error({ node, problem }, 'not all of the Node can be told');
    return client.create<Node>(nodesPath(), initial).pipe(
      tap(() => {
        startup.registered(facts.machine.bootedAt);
        log.info({ node }, 'the Node is registered');
        events.forEach(tell);
      }),
      catchError((error: unknown) =>
        // Who may not make a Node may still have one.
        isAlreadyExists(error) || isForbidden(error) ? reconcile(initial) : throwError(() => error),
      ),
    );
  };

  return defer(() => {
    let waitMs = REGISTER_INITIAL_MS;
    startup.attempted();
    return defer(() => timer(waitMs, scheduler)).pipe(
      concatMap(() => facts$),
      concatMap(attempt),
      map(note),
      tap({
        error: (error: unknown) => log.error({ node, error: errorText(error) }, 'the Node could not be registered'),
      }),
      retry({
        delay: () => {
          waitMs = Math.min(2 * waitMs, REGISTER_MAX_MS);
          return of(true);
        },
      }),
      ignoreElements(),
    );
  });
};
