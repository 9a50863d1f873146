import { map, type Observable, startWith } from 'rxjs';
import type { NodeIdentity } from '../../model/pod/mirror-pod.js';
import type { Node } from '../../model/node/node.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import type { SourceEvent } from '../../model/pod/pod-set.js';
import type { PodStartTracker } from '../../model/pod-status/pod-start-tracker.js';
import { apiClient } from './api-client.js';
import { apiSource } from '../config/api-source.js';
import { type ChangeDetection, type ClusterReferences, podReferences } from '../references/pod-references.js';
import { eventSink } from '../events/event-sink.js';
import { withFreshNode } from '../node/with-fresh-node.js';
import { type NodeManagerOptions, type NodeManagerPorts, nodeManager } from '../node/node-manager.js';
import type { ApiServer } from '../ports/api-server.js';
import type { LastKnown } from '../ports/last-known.js';
import type { LookupHost } from '../ports/lookup-host.js';
import type { PodCertificateKeys } from '../ports/pod-certificate-keys.js';
import type { ReadMachine } from '../ports/read-machine.js';
import type { RecordEvent } from '../ports/record-event.js';
import { mirrorPods } from '../status/mirror-pods.js';
import { statusManager } from '../status/status-manager.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';

/** The ports that a node of a cluster needs in addition to those of every node. */
export interface ClusterPorts {
  readonly api: ApiServer;
  /** Closes all connections to the API server, for the case that they are dead. */
  readonly resetConnections: () => void;
  readonly readMachine: ReadMachine;
  readonly lookupHost: LookupHost;
  /** Keeps pods for a start while the API server is away. Default: no pods are kept. */
  readonly lastKnown?: LastKnown;
  /** Makes keys for certificates of pods. Default: pods get no certificates. */
  readonly podCertificateKeys?: PodCertificateKeys;
}

/** The settings of a node of a cluster. Defaults are those of the kubelet. */
export interface ClusterOptions {
  readonly node: NodeObjectSettings;
  /** `registerNode`: whether the agent creates the Node. Default: true. */
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

/** The state of the loop that is reported to the cluster. */
type LoopFacts = Pick<NodeManagerOptions, 'state' | 'health'> & {
  readonly syncFrequencyMs: number;
  readonly podStarts: PodStartTracker;
};

/** The streams that report to the API server and watch its objects. They emit nothing, do not fail and do not end; no pod waits for them. */
export interface ClusterStreams {
  /** Watches the Node of this agent. */
  readonly nodeView$: Observable<never>;
  /** Registers the Node and keeps its status true. */
  readonly nodeStatus$: Observable<never>;
  readonly lease$: Observable<never>;
  /** Watches the objects that pods refer to. */
  readonly references$: Observable<never>;
  readonly podStatuses$: Observable<never>;
  readonly mirrorPods$: Observable<never>;
  readonly events$: Observable<never>;
}

/** The connection of a node to its cluster: the inputs of the loop, and the streams beside it. */
export interface ClusterNode {
  /** Writes an event to the journal and the log, and sends it to the API server. */
  readonly recordEvent: RecordEvent;
  /** The pods that the API server has for this node. */
  readonly source$: Observable<SourceEvent>;
  /** The objects that pods refer to. */
  readonly references: ClusterReferences;
  /** The Node of the API server, or the one that would be created; undefined until the machine has been read. */
  readonly node: () => Node | undefined;
  /** The present `node` at once, then each newer one. Errors: none. Ends: never. */
  readonly node$: Observable<Node | undefined>;
  /** Writes the state of this agent to the API server. */
  readonly streams: (state: KubeletState) => ClusterStreams;
}

/** Makes a node of a cluster. It sends no request until one of its streams is subscribed. */
export const clusterNode = (ports: ClusterNodePorts, options: ClusterOptions, loop: LoopFacts): ClusterNode => {
  const { api, resetConnections, log, random, scheduler, wallClock, metrics, lastKnown, podCertificateKeys } = ports;
  const { node: settings, registerNode = true, host, changeDetection } = options;
  const { qps = 50, burst = 100, eventQps = 50, eventBurst = 100 } = options;
  const { nodeName } = settings;
  const ofHost = host === undefined ? {} : { host };

  const client = apiClient(api, { qps, burst, scheduler, metrics, log, ...ofHost });
  const nodeUid = (): string | undefined => node.node()?.metadata.uid;
  const events = eventSink(ports, { nodeName, nodeUid, qps: eventQps, burst: eventBurst, ...ofHost });
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
    {
      ...{ api: client, scheduler, random, log, wallClock, lastKnown },
      certificates: {
        ...{ keys: podCertificateKeys, recordEvent, metrics, nodeName },
        node: () => identityOf(node.node()),
      },
    },
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
    node$: node.node$,
    source$: apiSource(
      { api: client, scheduler, random, wallClock, ...(lastKnown && { lastKnown }) },
      { nodeName, isNodeKnown$ },
    ).pipe(withFreshNode({ node: node.node, refresh$: node.refresh$, scheduler })),
    streams: (state) => ({
      nodeView$: node.view$,
      nodeStatus$: node.status$,
      lease$: node.lease$,
      references$: references.run$,
      podStatuses$: statusManager({
        state,
        api: client,
        metrics,
        log,
        scheduler,
        wallClock,
        written: (pod) => loop.podStarts.written(pod),
      }).run$,
      mirrorPods$: mirrorPods({
        state,
        api: client,
        random,
        log,
        scheduler,
        node: () => identityOf(node.node()),
        node$: node.node$.pipe(map(identityOf)),
      }).run$,
      events$: events.run$,
    }),
  };
};

/** The owner of mirror pods: a Node that the API server has and that is not being deleted; else undefined. */
const identityOf = (node: Node | undefined): NodeIdentity | undefined => {
  const { name, uid, deletionTimestamp } = node?.metadata ?? {};
  return name === undefined || uid === undefined || deletionTimestamp !== undefined ? undefined : { name, uid };
};
