import { concatMap, defer, EMPTY, ignoreElements, map, type Observable, of, tap, throwError } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import { nodePath, nodeStatusPath } from '../../model/kube-api/api-paths.js';
import { isNodeReady, type Node } from '../../model/node/node.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import { type NodeEvent, type NodeStatusFacts, statusEvent } from '../../model/node/node-status.js';
import { afterWrite, isReportDue, NO_REPORT } from '../../model/node/status-report.js';
import { nodeStatusPatch, type NodeUpdate, updateNode } from '../../model/node/update-node.js';
import type { ApiClient } from '../cluster/api-client.js';
import type { Logger } from '../ports/logger.js';
import type { LogNodeProblems } from './log-node-problems.js';
import type { Random } from '../ports/random.js';
import type { NodeStartup } from './node-startup.js';
import type { NodeView } from './node-view.js';
import type { SendPodCidr } from './pod-cidr.js';

export interface StatusWriterOptions {
  /** Without a limit of rate, and with a short time-out. */
  readonly heartbeats: Pick<ApiClient, 'get' | 'patch'>;
  /** Emits once for each subscription. */
  readonly facts$: Observable<NodeStatusFacts>;
  readonly settings: NodeObjectSettings;
  readonly view: Pick<NodeView, 'node' | 'note'>;
  /** The period in which an unchanged status is written, in milliseconds; 0.5 to 1.5 times as long after a change. */
  readonly reportFrequencyMs: number;
  readonly sendPodCidr: SendPodCidr;
  readonly startup: Pick<NodeStartup, 'ready'>;
  readonly recordNodeEvent: (event: NodeEvent) => void;
  readonly log: Logger;
  readonly logProblems: LogNodeProblems;
  readonly random: Random;
  readonly scheduler: SchedulerLike;
}

/** Writes the status of the Node if it has changed or is due. */
export interface StatusWriter {
  /** Writes once. Attempt 0 reads the Node from the watch, others from the server. Errors: `ApiError`; there is no Node. */
  readonly attempt: (tryNumber: number) => Observable<never>;
  /** Emits the new Node once. Errors: the machine cannot be read. */
  readonly update: (original: Node) => Observable<NodeUpdate>;
  /** Writes the difference and completes. Errors: `ApiError`. */
  readonly write: (original: Node, update: NodeUpdate) => Observable<never>;
}

/**
 * Makes the writer. Events are recorded after the write that they describe, so that a repeated write records them once.
 *
 * Source: pkg/kubelet/kubelet_node_status.go tryUpdateNodeStatus, updateNode, patchNodeStatus
 */
export const statusWriter = ({
  heartbeats,
  facts$,
  settings,
  view,
  reportFrequencyMs,
  sendPodCidr,
  startup,
  recordNodeEvent,
  log,
  logProblems,
  random,
  scheduler,
}: StatusWriterOptions): StatusWriter => {
  const { nodeName: node } = settings;
  let report = NO_REPORT;

  const read = (tryNumber: number): Observable<Node> => {
    if (tryNumber > 0) return heartbeats.get<Node>(nodePath(node));
    const known = view.node();
    return known ? of(known) : throwError(() => new Error(`node ${JSON.stringify(node)} is not known yet`));
  };

  const recordSchedulable = ({ spec }: Node): void => {
    const isUnschedulable = spec?.unschedulable ?? false;
    if (isUnschedulable === report.isUnschedulable) return;
    recordNodeEvent(statusEvent(node, isUnschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable'));
    report = { ...report, isUnschedulable };
  };

  const update: StatusWriter['update'] = (original) =>
    sendPodCidr(original).pipe(
      concatMap((isSent) =>
        facts$.pipe(
          map((facts) => updateNode(original, settings, facts, report.dropped)),
          map((updated) => ({ ...updated, isChanged: updated.isChanged || isSent })),
        ),
      ),
      tap(({ problems }) => {
        logProblems(problems);
        recordSchedulable(original);
      }),
    );

  const write: StatusWriter['write'] = (original, { node: sent, events }) =>
    defer(() => {
      const patch = nodeStatusPatch(original, sent);
      return patch === undefined ? of(sent) : heartbeats.patch<Node>(nodeStatusPath(node), patch);
    }).pipe(
      tap((answer) => {
        const written = afterWrite(report, { sent, answer, now: scheduler.now() });
        report = written.report;
        for (const field of written.dropped) {
          log.info({ node, field }, 'the API server does not keep a field of the Node');
        }
        view.note(answer);
        events.forEach(recordNodeEvent);
        if (isNodeReady(answer)) startup.ready();
      }),
      ignoreElements(),
    );

  return {
    update,
    write,
    attempt: (tryNumber) =>
      defer(() => read(tryNumber)).pipe(
        concatMap((original) =>
          update(original).pipe(
            concatMap((updated) => {
              if (!updated.isChanged && !isReportDue(report, scheduler.now(), reportFrequencyMs)) return EMPTY;
              // After a change the next report of each node is at a random time; from then on each keeps its rhythm.
              const isSpread = updated.isChanged || report.reportedAt === undefined;
              report = { ...report, spreadMs: isSpread ? reportFrequencyMs * (random() - 0.5) : 0 };
              return write(original, updated);
            }),
          ),
        ),
      ),
  };
};
