import { catchError, defer, EMPTY, ignoreElements, merge, type Observable, tap } from 'rxjs';
import { nodePath } from '../../model/api/api-paths.js';
import { initialNode } from '../../model/node/initial-node.js';
import type { Node } from '../../model/node/node.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import type { NodeEvent, NodeStatusFacts } from '../../model/node/node-status.js';
import { type ApiClient, apiClient } from '../api/api-client.js';
import type { ApiServer, Metrics, Random, RecordEvent, RuntimeService } from '../ports.js';
import { type LoopFacts, nodeFacts, type NodeFactsPorts } from './node-facts.js';
import { nodeLease } from './node-lease.js';
import { nodeStartup } from './node-startup.js';
import { nodeStatus } from './node-status.js';
import { nodeView } from './node-view.js';
import { podCidrTeller } from './pod-cidr.js';
import { registration } from './registration.js';

export interface NodeManagerPorts extends NodeFactsPorts {
  readonly runtime: Pick<RuntimeService, 'version' | 'updateRuntimeConfig'>;
  /** Heartbeats go there beside every limit. */
  readonly api: ApiServer;
  /** What everybody else of the agent asks through. */
  readonly client: ApiClient;
  readonly recordEvent: RecordEvent;
  readonly metrics: Metrics;
  readonly random: Random;
}

export interface NodeManagerOptions extends LoopFacts {
  readonly settings: NodeObjectSettings;
  /** `registerNode`: unless it is true somebody else makes the Node. */
  readonly registerNode: boolean;
  /** `nodeStatusUpdateFrequency`. */
  readonly updateFrequencyMs: number;
  /** `nodeStatusReportFrequency`. */
  readonly reportFrequencyMs: number;
  /** `nodeLeaseDurationSeconds`. */
  readonly leaseDurationSeconds: number;
  /** Asks the runtime how it is, so that `runtimeReport` is new, and ends; emits nothing and never errors. */
  readonly checkRuntime$?: Observable<never>;
  /** Heartbeats fail again and again: connections may be dead without anybody having said so. */
  readonly resetConnections?: () => void;
  /** `host:port` of the API server, for metrics. */
  readonly host?: string;
}

/** The Node of this agent and its lease. */
export interface NodeManager {
  /** Registers it and keeps it true, with its lease; emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
  /** The Node as the API server has it, else as this agent would make it; undefined until the machine has been read. */
  readonly node: () => Node | undefined;
  /** Emits once it is known whether the API server has it, and completes. Pods of the API are believed from then on. */
  readonly synced$: Observable<void>;
  /** Reads it from the API server, so that `node` is new, and completes. Errors: `ApiError`. */
  readonly refresh$: Observable<never>;
}

/** Source: pkg/kubelet/kubelet_node_status.go, pkg/kubelet/kubelet.go */
export const nodeManager = (ports: NodeManagerPorts, options: NodeManagerOptions): NodeManager => {
  const { client, recordEvent, metrics, random, log, scheduler, wallClock } = ports;
  const { settings, updateFrequencyMs, reportFrequencyMs, leaseDurationSeconds, checkRuntime$ = EMPTY } = options;
  const { resetConnections = () => undefined } = options;
  const heartbeats = apiClient(ports.api, {
    qps: -1,
    burst: 0,
    timeoutMs: Math.min(updateFrequencyMs, leaseDurationSeconds * 1_000),
    scheduler,
    ...(options.host !== undefined && { host: options.host }),
    metrics,
    log,
  });
  const view = nodeView({ api: client, scheduler, random, log }, settings.nodeName);
  const tell = ({ type, reason, message }: NodeEvent): void => recordEvent({ type, reason, message, causes: [] });
  let known: NodeStatusFacts | undefined;
  const facts$ = nodeFacts(ports, settings, options).pipe(tap((facts) => (known = facts)));

  return {
    run$: defer(() => {
      tell({ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
      const startup = nodeStartup(metrics, { scheduler, wallClock });
      const shared = { facts$, settings, startup, tell, log, random, scheduler, resetConnections };
      // What the Node would be is known before anybody asks the server; who cannot read the machine says so later.
      const first$ = facts$.pipe(catchError(() => EMPTY));
      return merge(
        first$,
        view.run$,
        nodeStatus({
          ...shared,
          ...{ heartbeats, view, checkRuntime$, updateFrequencyMs, reportFrequencyMs },
          tellPodCidr: podCidrTeller(ports),
          ...(options.registerNode && { register$: registration({ ...shared, client, note: view.note }) }),
        }),
        nodeLease({
          ...{ heartbeats, resetConnections, log, random, scheduler, wallClock },
          nodeName: settings.nodeName,
          durationSeconds: leaseDurationSeconds,
          nodeUid: () => view.node()?.metadata.uid,
        }),
      ).pipe(ignoreElements());
    }),
    node: () => view.node() ?? (known && initialNode(settings, known).node),
    synced$: view.synced$,
    refresh$: defer(() => heartbeats.get<Node>(nodePath(settings.nodeName))).pipe(tap(view.note), ignoreElements()),
  };
};
