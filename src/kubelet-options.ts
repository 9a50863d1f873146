import type { Observable, SchedulerLike } from 'rxjs';
import type { Admit } from './model/admission/rejection.js';
import type { EvictionPolicy } from './model/eviction/eviction-policy.js';
import type { ImageVerification } from './model/images/image-verification.js';
import type { NodeFacts } from './model/node/node-facts.js';
import type { Node } from './model/node/node.js';
import type { RunningPod } from './model/pleg/running-pods.js';
import type { RuntimePodStatus } from './model/pleg/runtime-pod.js';
import type { Pod, PodRef } from './model/pod/pod.js';
import type { NodeState } from './model/node-state/node-state.js';
import type { ShutdownGroup } from './model/shutdown/shutdown-groups.js';
import type { PodChange } from './model/pod-status/pod-change.js';
import type { NodeCgroups } from './streams/cgroups/node-cgroups.js';
import type { ClusterOptions, ClusterPorts } from './streams/cluster/cluster-node.js';
import type { Image } from './streams/images/image-list.js';
import type { PlegOptions } from './streams/pleg/pleg.js';
import type { PodSources } from './streams/config/pod-config.js';
import type { WorkerOutcome } from './streams/pod-workers/pod-workers.js';
import type { Checkpoints } from './streams/ports/checkpoints.js';
import type { CredentialPorts } from './streams/ports/credential-ports.js';
import type { DiskSpace } from './streams/ports/disk-space.js';
import type { OomLog } from './streams/ports/oom-log.js';
import type { EvictionFigures } from './streams/ports/eviction-figures.js';
import type { HttpRequest } from './streams/ports/http-request.js';
import type { ImageService } from './streams/ports/image-service.js';
import type { LogFiles } from './streams/ports/log-files.js';
import type { Logger } from './streams/ports/logger.js';
import type { Metrics } from './streams/ports/metrics.js';
import type { NodeFiles } from './streams/ports/node-files.js';
import type { PodFiles } from './streams/ports/pod-files.js';
import type { ProbeHandlers } from './streams/ports/probe-handlers.js';
import type { ProbeRecords } from './streams/ports/probe-records.js';
import type { PullRecords } from './streams/ports/pull-records.js';
import type { Random } from './streams/ports/random.js';
import type { RecordEvent } from './streams/ports/record-event.js';
import type { RecordJournal } from './streams/ports/record-journal.js';
import type { RuntimeClasses } from './streams/ports/runtime-classes.js';
import type { RuntimeService } from './streams/ports/runtime-service.js';
import type { VolumeFiles } from './streams/ports/volume-files.js';
import type { WallClock } from './streams/ports/wall-clock.js';
import type { PullLimits } from './streams/images/pull-queue.js';
import type { ShutdownInhibitor } from './streams/ports/shutdown-inhibitor.js';
import type { ShutdownStates } from './streams/ports/shutdown-states.js';
import type { StopRequest } from './streams/sync-loop/handle-stop.js';
import type { SyncLoopInputs } from './streams/sync-loop/sync-loop.js';
import type { UpkeepPolicies } from './streams/upkeep/upkeep.js';

/** The outside world of the agent, each port by its name. A module of the streams names the few ports that it needs. */
export interface KubeletPorts extends CredentialPorts {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Scheme of container ids in statuses, such as `containerd`. */
  readonly runtimeName: string;
  readonly node: NodeFacts;
  readonly files: NodeFiles;
  readonly podFiles: PodFiles;
  readonly volumeFiles: VolumeFiles;
  readonly logFiles: LogFiles;
  readonly diskSpace: DiskSpace;
  readonly pullRecords: PullRecords;
  readonly httpRequest: HttpRequest;
  /** Default: no container is probed. */
  readonly probeHandlers?: ProbeHandlers;
  /** Default: the results of probes do not survive the agent. */
  readonly probeRecords?: ProbeRecords;
  /** Default: pods stay in the cgroups of the runtime. */
  readonly nodeCgroups?: NodeCgroups;
  /** Delays the shutdown of the machine, for `shutdownGroups` of the options. Default: a shutdown is not noticed. */
  readonly shutdownInhibitor?: ShutdownInhibitor;
  /** Default: the newest shutdown is not known to later agents. */
  readonly shutdownStates?: ShutdownStates;
  /** Default: what resized pods were given does not survive the agent. */
  readonly checkpoints?: Checkpoints;
  /** Measures the node, for `eviction` of the options. Default: no pod is evicted. */
  readonly evictionFigures?: EvictionFigures;
  /** Default: processes that the kernel ends because memory runs out are not reported. */
  readonly oomLog?: OomLog;
  /** Required by `cluster` of the options. */
  readonly cluster?: ClusterPorts;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
  readonly random: Random;
}

/** The options of an agent. */
export interface KubeletOptions extends UpkeepPolicies {
  /** The sources of pods, by name. */
  readonly sources: PodSources;
  /** Milliseconds between two syncs of a healthy pod, before jitter. Default: 60,000. */
  readonly syncFrequencyMs?: number;
  /** Milliseconds; the longest crash-loop back-off. Default: 300,000. */
  readonly maxRestartBackOffMs?: number;
  /** The limits of pulls at a time and per second. */
  readonly imagePulls?: PullLimits;
  /**
   * The present images for which a pod needs pull credentials. Default: the kubelet's policy. `'none'`: no image.
   */
  readonly imageVerification?: ImageVerification | 'none';
  /** Decides which pods this node admits. Default: `admitPod` with the facts of the node. */
  readonly admit?: Admit;
  /** Relists rarely while the runtime's event stream is up. The agent reads the events in any case. */
  readonly eventedPleg?: boolean;
  /**
   * Maps the name of a RuntimeClass to the runtime's handler. Without it a class has no effect, as for a kubelet without an API
   * server: the pod runs with the default handler, with an event about that.
   */
  readonly runtimeClasses?: RuntimeClasses;
  /**
   * Makes the agent a node of a cluster; needs the ports of the same name. The API server is then one more source, `api`, and
   * receives statuses, events and the Node. Without it the node stands alone.
   */
  readonly cluster?: ClusterOptions;
  /**
   * The groups of pods that are stopped one after the other when the machine shuts down, lowest priority first; `stop$` stops them in the
   * same order. Default: none. A shutdown is not noticed, and `stop$` stops all pods at once.
   */
  readonly shutdownGroups?: readonly ShutdownGroup[];
  /** When pods are evicted; needs the port `evictionFigures`. Default: never. */
  readonly eviction?: EvictionPolicy;
  /** Stops every pod. `outcome$` ends as soon as none of them can be running. */
  readonly stop$?: Observable<StopRequest>;
  /**
   * Swaps inputs of the loop: `(inputs) => ({ ...inputs, pleg$: mine$ })`. Build a `pleg$` of your own with `pleg(ofPleg)` and
   * other options: the workers wait for the views that it puts into their cache.
   */
  readonly swap?: (inputs: SyncLoopInputs, ofPleg: PlegOptions) => SyncLoopInputs;
}

/** The state of a running agent. */
export interface KubeletView {
  /** The pods that the sources want, each with its status as this node sees it. */
  readonly pods: () => readonly Pod[];
  /**
   * The earliest time of the pod in the runtime, in Unix milliseconds: the pod existed then. Undefined if the runtime has nothing of it or
   * cannot be read. The `startTime` of a static pod without an API server counts from the start of this agent only.
   */
  readonly existsSince: (uid: string) => number | undefined;
  /** The pods that the runtime runs, as last read. */
  readonly runningPods: () => readonly RunningPod[];
  /**
   * The Node of the API server, or the one that the agent would create. Undefined without an API server, and until the machine has been
   * read.
   */
  readonly node: () => Node | undefined;
  /** The pod in the runtime, as last read, while it runs there. The UID of a mirror pod means its static pod. */
  readonly findRunning: (pod: PodRef) => RuntimePodStatus | undefined;
  /** The images of the node, largest first; no older than 30 s while the runtime answers. */
  readonly images: () => readonly Image[];
  /** The reason why the node is not healthy; undefined while it is. */
  readonly health: () => string | undefined;
}

/** A node agent. Each subscription of `outcome$` is one life of it; the view shows the newest. */
export interface Kubelet extends KubeletView {
  /** One outcome per run of a pod's worker. Errors: none. Ends: only after `stop$` has stopped every pod. */
  readonly outcome$: Observable<WorkerOutcome>;
  /**
   * The state of the agent as one immutable value: the newest one first, then each newer one. A new life of the agent begins with its own. Errors: none. Ends: never; emits nothing before the first life.
   */
  readonly state$: Observable<NodeState>;
  /**
   * The changes of single pods, beginning with one `added` for each pod that is there. `removed` says that no source wants the pod any more;
   * its containers may still have to end. A new life of the agent begins with `added` again. Errors: none. Ends: never.
   */
  readonly pods$: Observable<PodChange>;
  /**
   * The UID of each pod after it was read from the runtime, changed or not, wanted or not: `findRunning` shows what was read. Errors: none.
   * Ends: never.
   */
  readonly runtimePod$: Observable<string>;
  /**
   * The Node of the API server, or the one that the agent would create: the present one first, then each newer one. Undefined without an API
   * server, and until the machine has been read. Errors: none. Ends: never.
   */
  readonly node$: Observable<Node | undefined>;
  /**
   * The reason why the node is not healthy, undefined while it is: the present one first, then each change, as the agent's checks find it,
   * every second. A new life of the agent begins with its own. Errors: none. Ends: never.
   */
  readonly health$: Observable<string | undefined>;
  /**
   * Emits once every source has delivered its first set and every pod that the runtime lists has been read, and completes: from then on `pods`
   * and `findRunning` know all pods. Errors: none.
   */
  readonly ready$: Observable<void>;
}
