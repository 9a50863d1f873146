import { concat, EMPTY, NEVER, type Observable, of } from 'rxjs';
import type { KubeletOptions, KubeletPorts } from './kubelet-options.js';
import { liveNodeFacts } from './model/node/live-node-facts.js';
import type { Node } from './model/node/node.js';
import { PodStartTracker } from './model/pod-status/pod-start-tracker.js';
import { clusterNode, type ClusterStreams } from './streams/cluster/cluster-node.js';
import type { PodSources } from './streams/config/pod-config.js';
import type { PodReferences } from './streams/ports/pod-references.js';
import { manifestReferences } from './streams/references/manifest-references.js';
import { bothPullSecrets } from './streams/references/pull-secrets.js';
import type { RuntimeHealth } from './streams/runtime-health/runtime-health.js';
import type { KubeletState } from './streams/sync-loop/kubelet-state.js';
import type { LoopContext } from './streams/sync-loop/loop-context.js';
import type { PodVolumesPorts } from './streams/volumes/pod-volumes.js';

/** What a node has from its cluster. A node without an API server has it from its manifests, or not at all. */
export interface ClusterParts {
  /** Those of the agent, and those that the cluster brings in their place. */
  readonly ports: KubeletPorts;
  readonly sources: PodSources;
  /** The objects that pods refer to, and what a volume gets for its pod. */
  readonly references: Pick<PodVolumesPorts, 'podToken' | 'podCertificate' | 'runtimeClasses'> & {
    readonly podReferences: PodReferences;
  };
  /** For the handlers of the loop. */
  readonly loop: Pick<LoopContext, 'setObjects' | 'podStarts'>;
  readonly node: () => Node | undefined;
  readonly node$: Observable<Node | undefined>;
  readonly streams: ClusterStreams;
}

/** What the node reports about the loop. */
interface LoopParts {
  readonly state: KubeletState;
  readonly health: RuntimeHealth;
  readonly syncFrequencyMs: number;
}

/** The names of the sources. One of the same name in the options takes the place of the cluster's own. */
export const sourceNames = (
  { cluster: ports }: KubeletPorts,
  { cluster, sources }: KubeletOptions,
): readonly string[] => [...new Set([...(ports && cluster ? ['api'] : []), ...Object.keys(sources)])];

export const assembleCluster = (given: KubeletPorts, options: KubeletOptions, loop: LoopParts): ClusterParts =>
  given.cluster && options.cluster
    ? inCluster({ ...given, cluster: given.cluster }, { ...options, cluster: options.cluster }, loop)
    : alone(given, options);

type WithCluster<T extends { readonly cluster?: unknown }> = T & { readonly cluster: NonNullable<T['cluster']> };

const inCluster = (
  given: WithCluster<KubeletPorts>,
  options: WithCluster<KubeletOptions>,
  { state, health, syncFrequencyMs }: LoopParts,
): ClusterParts => {
  const podStarts = new PodStartTracker();
  const node = clusterNode({ ...given, ...given.cluster }, options.cluster, {
    syncFrequencyMs,
    podStarts,
    state,
    health,
  });
  const { podToken, podCertificate, runtimeClasses, pullSecrets } = node.references;
  return {
    ports: { ...given, node: liveNodeFacts(given.node, node.node), recordEvent: node.recordEvent, pullSecrets },
    sources: { api: node.source$, ...options.sources },
    references: {
      podReferences: node.references,
      podToken,
      podCertificate,
      runtimeClasses: options.runtimeClasses ?? runtimeClasses,
    },
    loop: { setObjects: undefined, podStarts },
    node: node.node,
    node$: node.node$,
    streams: node.streams(state),
  };
};

/** Without an API server the sources provide the objects that their pods refer to. */
const alone = (given: KubeletPorts, { sources, runtimeClasses }: KubeletOptions): ClusterParts => {
  const manifests = manifestReferences(given.log);
  return {
    ports: { ...given, pullSecrets: bothPullSecrets(manifests.pullSecrets, given.pullSecrets) },
    sources,
    references: { podReferences: manifests, podToken: undefined, podCertificate: undefined, runtimeClasses },
    loop: { setObjects: manifests.setObjects },
    node: () => undefined,
    node$: concat(of(undefined), NEVER),
    streams: ALONE,
  };
};

const ALONE: ClusterStreams = {
  nodeView$: EMPTY,
  nodeStatus$: EMPTY,
  lease$: EMPTY,
  references$: EMPTY,
  podStatuses$: EMPTY,
  mirrorPods$: EMPTY,
  events$: EMPTY,
};
