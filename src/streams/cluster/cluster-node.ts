import { defer, map, merge, type Observable, startWith } from 'rxjs';
import type { NodeIdentity } from '../../model/mirror-pod.js';
import type { Node } from '../../model/node/node.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import type { SourceEvent } from '../../model/pod-set.js';
import type { PodStartTracker } from '../../model/pod-start-tracker.js';
import { apiClient } from '../api/api-client.js';
import { apiSource } from '../api/api-source.js';
import { type ChangeDetection, type ClusterReferences, podReferences } from '../api/pod-references.js';
import { eventSink } from '../events/event-sink.js';
import { withFreshNode } from '../node/with-fresh-node.js';
import { type NodeManagerOptions, type NodeManagerPorts, nodeManager } from '../node/node-manager.js';
import type { ApiServer, LastKnown, LookupHost, ReadMachine, RecordEvent } from '../ports.js';
import { mirrorPods } from '../status/mirror-pods.js';
import { statusManager } from '../status/status-manager.js';
import type { LoopDesk } from '../sync-loop/loop-desk.js';

/** What a node of a cluster needs of the world beside what every node needs. */
export interface ClusterPorts {
  readonly api: ApiServer;
  /** Breaks all connections to the API server, for when they seem to be dead. */
  readonly resetConnections: () => void;
  readonly readMachine: ReadMachine;
  readonly lookupHost: LookupHost;
  /** After a start while the API server is away, pods are known from before only if this is given. */
  readonly lastKnown?: LastKnown;
}

/** How a node takes part in its cluster. Defaults are the kubelet's. */
export interface ClusterOptions {
  readonly node: NodeObjectSettings;
  /** `registerNode`: unless it is true, somebody else makes the Node; true unless given. */
  readonly registerNode?: boolean;
  /** `nodeStatusUpdateFrequency`: 10 s. */
  readonly nodeStatusUpdateFrequencyMs?: number;
  /** `nodeStatusReportFrequency`: 5 min. */
  readonly nodeStatusReportFrequencyMs?: number;
  /** `nodeLeaseDurationSeconds`: 40. */
  readonly nodeLeaseDurationSeconds?: number;
  /** `kubeAPIQPS` and `kubeAPIBurst`: 50 requests a second after 100 at once. */
  readonly qps?: number;
  readonly burst?: number;
  /** `eventRecordQPS` and `eventBurst`: 50 and 100. */
  readonly eventQps?: number;
  readonly eventBurst?: number;
  /** `configMapAndSecretChangeDetectionStrategy`: `Watch`. */
  readonly changeDetection?: ChangeDetection;
  /** `host:port` of the API server: the label of metrics. */
  readonly host?: string;
}

type ClusterNodePorts = ClusterPorts & Omit<NodeManagerPorts, 'api' | 'client'>;

/** What the loop knows that the cluster is told. */
type LoopFacts = Pick<NodeManagerOptions, 'images' | 'runtimeReport' | 'checkRuntime$'> & {
  readonly syncFrequencyMs: number;
  readonly podStarts: PodStartTracker;
};

/** A node's part in its cluster: what the loop hears of it, and what is done for it beside the loop. */
export interface ClusterNode {
  /** Tells the journal and the log of an event, and takes it to the API server. */
  readonly recordEvent: RecordEvent;
  /** The pods that the API server has for this node. */
  readonly source$: Observable<SourceEvent>;
  /** What pods refer to. */
  readonly references: ClusterReferences;
  /** The Node, as the API server has it or as it would be made; undefined until the machine has been read. */
  readonly node: () => Node | undefined;
  /**
   * Node, lease, statuses, mirrors and events, while it is subscribed: no pod waits for any of it. Emits nothing.
   * Errors: none. Ends: never.
   */
  readonly beside: (desk: LoopDesk) => Observable<never>;
}

/** A node of a cluster. Nothing is asked of the API server until what it gives is subscribed. */
export const clusterNode = (ports: ClusterNodePorts, options: ClusterOptions, loop: LoopFacts): ClusterNode => {
  const { api, resetConnections, log, random, scheduler, wallClock, metrics, lastKnown } = ports;
  const { node: settings, registerNode = true, host, changeDetection } = options;
  const { qps = 50, burst = 100, eventQps = 50, eventBurst = 100 } = options;
  const { nodeName } = settings;
  const ofHost = host === undefined ? {} : { host };

  const client = apiClient(api, { qps, burst, scheduler, metrics, log, ...ofHost });
  const events = eventSink(ports, { nodeName, qps: eventQps, burst: eventBurst, ...ofHost });
  const { recordEvent } = events;
  const node = nodeManager(
    { ...ports, client, recordEvent },
    {
      ...{ ...loop, settings, registerNode, resetConnections, ...ofHost },
      updateFrequencyMs: options.nodeStatusUpdateFrequencyMs ?? 10_000,
      reportFrequencyMs: options.nodeStatusReportFrequencyMs ?? 300_000,
      leaseDurationSeconds: options.nodeLeaseDurationSeconds ?? 40,
    },
  );
  const references = podReferences(
    { api: client, scheduler, random, log, wallClock, lastKnown },
    {
      syncFrequencyMs: loop.syncFrequencyMs,
      ...(changeDetection && { changeDetection }),
      nodeAnnotations: () => node.node()?.metadata.annotations,
    },
  );
  const isNodeKnown$ = node.synced$.pipe(
    map(() => true),
    startWith(false),
  );

  return {
    recordEvent,
    references,
    node: node.node,
    source$: apiSource(
      { api: client, scheduler, random, wallClock, ...(lastKnown && { lastKnown }) },
      { nodeName, isNodeKnown$ },
    ).pipe(withFreshNode({ node: node.node, refresh$: node.refresh$, scheduler })),
    beside: (desk) =>
      defer(() => {
        const statuses = statusManager({
          ...desk,
          api: client,
          written: (pod) => loop.podStarts.written(pod),
        });
        const mirrors = mirrorPods({
          ...desk,
          api: client,
          random,
          node: () => identityOf(node.node()),
          areSourcesReady: () => desk.sources.all,
        });
        return merge(node.run$, references.run$, statuses.run$, mirrors.run$, events.run$);
      }),
  };
};

/** Whose mirrors are: only what the API server has made has a UID, and what is on its way out gets no more of them. */
const identityOf = (node: Node | undefined): NodeIdentity | undefined => {
  const { name, uid, deletionTimestamp } = node?.metadata ?? {};
  return name === undefined || uid === undefined || deletionTimestamp !== undefined ? undefined : { name, uid };
};
