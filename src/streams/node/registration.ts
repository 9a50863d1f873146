import {
  catchError,
  concatMap,
  defer,
  ignoreElements,
  type Observable,
  of,
  retry,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isAlreadyExists, isForbidden } from '../../model/kube-api/api-error.js';
import { nodePath, nodesPath, nodeStatusPath } from '../../model/kube-api/api-paths.js';
import { errorText } from '../../model/cri/cri-error.js';
import { initialNode } from '../../model/node/initial-node.js';
import type { Node } from '../../model/node/node.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import type { NodeEvent, NodeStatusFacts } from '../../model/node/node-status.js';
import { reconcileNode } from '../../model/node/reconcile-node.js';
import { nodeStatusPatch } from '../../model/node/update-node.js';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import type { ApiClient } from '../cluster/api-client.js';
import type { Logger } from '../ports/logger.js';
import type { LogNodeProblems } from './log-node-problems.js';
import type { NodeStartup } from './node-startup.js';

/** Source: pkg/kubelet/kubelet_node_status.go registerWithAPIServer. Milliseconds. */
export const REGISTER_BACKOFF: Backoff = { initialMs: 100, maxMs: 7_000 };

export interface RegistrationOptions {
  readonly client: Pick<ApiClient, 'get' | 'create' | 'patch'>;
  /** Emits once for each subscription. */
  readonly facts$: Observable<NodeStatusFacts>;
  readonly settings: NodeObjectSettings;
  readonly startup: NodeStartup;
  /** Receives the Node of the API server. */
  readonly note: (node: Node) => void;
  readonly recordNodeEvent: (event: NodeEvent) => void;
  readonly log: Logger;
  readonly logProblems: LogNodeProblems;
  readonly scheduler: SchedulerLike;
}

/**
 * Completes once the API server has the Node of this agent: a new one, or an existing one that has been updated. The first attempt
 * runs after 100 ms, and each further one after twice the wait before, 7 s at most.
 *
 * Errors: none; failures are logged and retried.
 * Source: pkg/kubelet/kubelet_node_status.go registerWithAPIServer, tryRegisterWithAPIServer
 */
export const registration = ({
  client,
  facts$,
  settings,
  startup,
  note,
  recordNodeEvent,
  log,
  logProblems,
  scheduler,
}: RegistrationOptions): Observable<never> => {
  const { nodeName: node } = settings;

  const reconcile = (initial: Node): Observable<Node> =>
    client.get<Node>(nodePath(node)).pipe(
      concatMap((existing) => {
        const patch = nodeStatusPatch(existing, reconcileNode(initial, existing));
        return patch === undefined ? of(existing) : client.patch<Node>(nodeStatusPath(node), patch);
      }),
      tap((found) => {
        startup.found();
        log.info({ node }, 'the Node was registered before');
        note(found);
      }),
    );

  const attempt = (facts: NodeStatusFacts): Observable<Node> => {
    const { node: initial, events, problems } = initialNode(settings, facts);
    logProblems(problems);
    return client.create<Node>(nodesPath(), initial).pipe(
      tap((created) => {
        startup.registered(facts.machine.bootedAt);
        log.info({ node }, 'the Node is registered');
        // First, so that the events have its UID.
        note(created);
        events.forEach(recordNodeEvent);
      }),
      catchError((error: unknown) =>
        // An agent that may not create its Node may still have one.
        isAlreadyExists(error) || isForbidden(error) ? reconcile(initial) : throwError(() => error),
      ),
    );
  };

  return defer(() => {
    let attempts = 0;
    startup.attempted();
    return defer(() => timer(nextDelay(REGISTER_BACKOFF, (attempts += 1)), scheduler)).pipe(
      concatMap(() => facts$),
      concatMap(attempt),
      tap({
        error: (error: unknown) => log.error({ node, error: errorText(error) }, 'the Node could not be registered'),
      }),
      retry(),
      ignoreElements(),
    );
  });
};
