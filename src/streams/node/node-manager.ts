import {
  BehaviorSubject,
  catchError,
  combineLatest,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  tap,
} from 'rxjs';
import { nodePath } from '../../model/kube-api/api-paths.js';
import { initialNode } from '../../model/node/initial-node.js';
import type { Node } from '../../model/node/node.js';
import { hasTmpfsNoswap } from '../../model/volumes/memory-medium.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import type { NodeEvent, NodeStatusFacts } from '../../model/node/node-status.js';
import { type ApiClient, apiClient } from '../cluster/api-client.js';
import type { ApiServer } from '../ports/api-server.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import { type LoopFacts, nodeFacts, type NodeFactsPorts } from './node-facts.js';
import { logNodeProblems } from './log-node-problems.js';
import { nodeLease } from './node-lease.js';
import { nodeStartup } from './node-startup.js';
import type { RuntimeHealth } from '../runtime-health/runtime-health.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { nodeStatus } from './node-status.js';
import { nodeView } from './node-view.js';
import { podCidrSender } from './pod-cidr.js';
import { registration } from './registration.js';

export interface NodeManagerPorts extends NodeFactsPorts {
  readonly runtime: Pick<RuntimeService, 'version' | 'updateRuntimeConfig'>;
  /** For heartbeats, which have no rate limit. */
  readonly api: ApiServer;
  /** The client of all other requests of the agent. */
  readonly client: ApiClient;
  readonly recordEvent: RecordEvent;
  readonly metrics: Metrics;
  readonly random: Random;
}

export interface NodeManagerOptions extends LoopFacts {
  readonly state: LoopFacts['state'] & Pick<KubeletState, 'state$'>;
  /** Its `read$` renews its `report`, before the status of the Node is read. */
  readonly health: Pick<RuntimeHealth, 'report' | 'read$'>;
  readonly settings: NodeObjectSettings;
  /** `registerNode`: whether the agent creates the Node. */
  readonly registerNode: boolean;
  /** `nodeStatusUpdateFrequency`. */
  readonly updateFrequencyMs: number;
  /** `nodeStatusReportFrequency`. */
  readonly reportFrequencyMs: number;
  /** `nodeLeaseDurationSeconds`. */
  readonly leaseDurationSeconds: number;
  /** Called after repeated failures of heartbeats: connections may be dead without an error. */
  readonly resetConnections?: () => void;
  /** `host:port` of the API server, for metrics. */
  readonly host?: string;
}

/** The Node of this agent and its lease. */
export interface NodeManager {
  /** Reads the machine and watches the Node; emits nothing and never ends. Errors: none. */
  readonly view$: Observable<never>;
  /** Registers the Node and keeps its status up to date; emits nothing and never ends. Errors: none. */
  readonly status$: Observable<never>;
  /** Renews the lease of the Node; emits nothing and never ends. Errors: none. */
  readonly lease$: Observable<never>;
  /** The Node of the API server, else the Node that this agent would create; undefined until the machine has been read. */
  readonly node: () => Node | undefined;
  /** The present `node` at once, then each newer one. Errors: none. Ends: never. */
  readonly node$: Observable<Node | undefined>;
  /** Emits once it is known whether the API server has the Node, and completes. Pods of the API are accepted from then on. */
  readonly synced$: Observable<void>;
  /** Reads the Node from the API server, so that `node` is new, and completes. Errors: `ApiError`. */
  readonly refresh$: Observable<never>;
}

const MAY_SWAP =
  'This machine swaps, and its kernel cannot keep a tmpfs out of the swap: Secrets and other volumes in memory may come to the disk';

/** Makes the manager of the Node and its lease. Source: pkg/kubelet/kubelet_node_status.go, pkg/kubelet/kubelet.go */
export const nodeManager = (ports: NodeManagerPorts, options: NodeManagerOptions): NodeManager => {
  const { client, recordEvent, metrics, random, log, scheduler, wallClock } = ports;
  const { settings, updateFrequencyMs, reportFrequencyMs, leaseDurationSeconds, health } = options;
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
  const recordNodeEvent = ({ type, reason, message }: NodeEvent): void =>
    recordEvent({ type, reason, message, causes: [] });
  const known$ = new BehaviorSubject<NodeStatusFacts | undefined>(undefined);
  const facts$ = nodeFacts(ports, settings, options).pipe(tap((facts) => known$.next(facts)));
  const nodeBy = (node: Node | undefined, known: NodeStatusFacts | undefined): Node | undefined =>
    node ?? (known && initialNode(settings, known).node);

  // The new Node is known before the first request to the API server; a machine that cannot be read is logged later.
  const first$ = facts$.pipe(
    tap(({ machine: { swapBytes, kernelVersion } }) => {
      if (swapBytes === 0n || hasTmpfsNoswap(kernelVersion)) return;
      recordNodeEvent({ type: 'Warning', reason: 'PossibleMemoryBackedVolumesOnDisk', message: MAY_SWAP });
    }),
    catchError(() => EMPTY),
  );

  return {
    view$: defer(() => {
      recordNodeEvent({ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
      return merge(first$, view.run$).pipe(ignoreElements());
    }),
    status$: defer(() => {
      const startup = nodeStartup(metrics, { scheduler, wallClock });
      const logProblems = logNodeProblems(settings.nodeName, log);
      const beside = { log, logProblems, random, scheduler, resetConnections };
      const shared = { facts$, settings, startup, recordNodeEvent, ...beside };
      return nodeStatus({
        ...shared,
        heartbeats,
        view,
        checkRuntime$: health.read$,
        shutdown$: options.state.state$.pipe(
          map(({ isShuttingDown }) => isShuttingDown),
          distinctUntilChanged(),
          filter((isShuttingDown) => isShuttingDown),
        ),
        updateFrequencyMs,
        reportFrequencyMs,
        sendPodCidr: podCidrSender(ports),
        ...(options.registerNode && { register$: registration({ ...shared, client, note: view.note }) }),
      });
    }).pipe(ignoreElements()),
    lease$: nodeLease({
      heartbeats,
      resetConnections,
      log,
      random,
      scheduler,
      wallClock,
      nodeName: settings.nodeName,
      durationSeconds: leaseDurationSeconds,
      nodeUid: () => view.node()?.metadata.uid,
    }).pipe(ignoreElements()),
    node: () => nodeBy(view.node(), known$.value),
    node$: combineLatest([view.node$, known$]).pipe(
      map(([node, known]) => nodeBy(node, known)),
      distinctUntilChanged(),
    ),
    synced$: view.synced$,
    refresh$: defer(() => heartbeats.get<Node>(nodePath(settings.nodeName))).pipe(tap(view.note), ignoreElements()),
  };
};
