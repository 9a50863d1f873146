import { concatMap, defer, EMPTY, ignoreElements, map, type Observable, of, tap, throwError } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { nodePath, nodeStatusPath } from '../../model/api/api-paths.js';
import { isNodeReady, type Node } from '../../model/node/node.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import { type NodeEvent, type NodeStatusFacts, statusEvent } from '../../model/node/node-status.js';
import {
  type DroppedField,
  droppedFields,
  nodeStatusPatch,
  type NodeUpdate,
  updateNode,
} from '../../model/node/update-node.js';
import type { ApiClient } from '../api/api-client.js';
import type { Logger, Random } from '../ports.js';
import type { NodeStartup } from './node-startup.js';
import type { NodeView } from './node-view.js';
import type { TellPodCidr } from './pod-cidr.js';

export interface StatusWriterOptions {
  /** Without a limit of rate, and with a short time-out. */
  readonly heartbeats: Pick<ApiClient, 'get' | 'patch'>;
  /** Emits once for each subscription. */
  readonly facts$: Observable<NodeStatusFacts>;
  readonly settings: NodeObjectSettings;
  readonly view: Pick<NodeView, 'node' | 'note'>;
  /** What has not changed is written so often; half as long to one and a half times as long after a change. */
  readonly reportFrequencyMs: number;
  readonly tellPodCidr: TellPodCidr;
  readonly startup: Pick<NodeStartup, 'ready'>;
  readonly tell: (event: NodeEvent) => void;
  readonly log: Logger;
  readonly random: Random;
  readonly scheduler: SchedulerLike;
}

/** Writes of the Node what has changed, and what is due. */
export interface StatusWriter {
  /** Reads the Node from the watch for the first try (0), and from the server for others. Errors: `ApiError`; there is no Node. */
  readonly attempt: (tryNumber: number) => Observable<never>;
  /** What the Node has to become; emits once. Errors: the machine cannot be read. */
  readonly update: (original: Node) => Observable<NodeUpdate>;
  /** Errors: `ApiError`. */
  readonly write: (original: Node, update: NodeUpdate) => Observable<never>;
}

/**
 * Events are told once the API server has what they are about, so that a write that is repeated tells them once.
 *
 * Source: pkg/kubelet/kubelet_node_status.go tryUpdateNodeStatus, updateNode, patchNodeStatus
 */
export const statusWriter = ({
  heartbeats,
  facts$,
  settings,
  view,
  reportFrequencyMs,
  tellPodCidr,
  startup,
  tell,
  log,
  random,
  scheduler,
}: StatusWriterOptions): StatusWriter => {
  const { nodeName: node } = settings;
  const dropped = new Set<DroppedField>();
  let reportedAt: number | undefined;
  let delayMs = 0;
  let isUnschedulable = false;

  const read = (tryNumber: number): Observable<Node> => {
    if (tryNumber > 0) return heartbeats.get<Node>(nodePath(node));
    const known = view.node();
    return known ? of(known) : throwError(() => new Error(`node ${JSON.stringify(node)} is not known of yet`));
  };

  const tellSchedulable = ({ spec }: Node): void => {
    const is = spec?.unschedulable ?? false;
    if (is !== isUnschedulable) tell(statusEvent(node, is ? 'NodeNotSchedulable' : 'NodeSchedulable'));
    isUnschedulable = is;
  };

  const update: StatusWriter['update'] = (original) =>
    tellPodCidr(original).pipe(
      concatMap((isTold) =>
        facts$.pipe(
          map((facts) => updateNode(original, settings, facts, dropped)),
          map((updated) => ({ ...updated, isChanged: updated.isChanged || isTold })),
        ),
      ),
      tap(({ problems }) => {
        for (const problem of problems) log.error({ node, problem }, 'not all of the Node can be told');
        tellSchedulable(original);
      }),
    );

  const write: StatusWriter['write'] = (original, { node: sent, events }) =>
    defer(() => {
      const patch = nodeStatusPatch(original, sent);
      return patch === undefined ? of(sent) : heartbeats.patch<Node>(nodeStatusPath(node), patch);
    }).pipe(
      tap((answer) => {
        reportedAt = scheduler.now();
        for (const field of droppedFields(sent, answer)) {
          dropped.add(field);
          log.info({ node, field }, 'the API server does not keep a field of the Node');
        }
        view.note(answer);
        events.forEach(tell);
        if (isNodeReady(answer)) startup.ready();
      }),
      ignoreElements(),
    );

  const isDue = (): boolean => reportedAt === undefined || scheduler.now() - reportedAt >= reportFrequencyMs + delayMs;

  return {
    update,
    write,
    attempt: (tryNumber) =>
      defer(() => read(tryNumber)).pipe(
        concatMap((original) =>
          update(original).pipe(
            concatMap((updated) => {
              if (!updated.isChanged && !isDue()) return EMPTY;
              // After a change nodes report at times of their own; from then on each keeps its own.
              const isSpread = updated.isChanged || reportedAt === undefined;
              delayMs = isSpread ? reportFrequencyMs * (random() - 0.5) : 0;
              return write(original, updated);
            }),
          ),
        ),
      ),
  };
};
