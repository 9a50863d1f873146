import type { Observable } from 'rxjs';
import type { NodeCertificate } from '../../model/certificates/node-certificate.js';
import type { RunningPod } from '../../model/pleg/running-pods.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import type { Pod, PodRef } from '../../model/pod/pod.js';
import type { RecordingFile } from '../../tools/recording/file/recording-file.js';
import type { ApiServer } from '../../streams/ports/api-server.js';
import type { Logger } from '../../streams/ports/logger.js';
import type { Metrics } from '../../streams/ports/metrics.js';
import type { NodeStats } from '../../streams/ports/node-stats.js';
import type { RecordJournal } from '../../streams/ports/record-journal.js';
import type { RuntimeService } from '../../streams/ports/runtime-service.js';
import type { StreamingService } from '../../streams/ports/streaming-service.js';
import type { ClusterFlags } from '../cluster/cluster-flags.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';
import type { AgentConfig } from '../config/fields/kubelet-configuration.js';

/** The environment that the process gives to a kubelet. */
export interface KubeletEnvironment {
  readonly config: AgentConfig;
  readonly nodeName: string;
  readonly paths: AgentPaths;
  /** The path of the socket of the runtime, whether real or embedded. */
  readonly runtimeSocket: string;
  readonly imageSocket: string;
  readonly log: Logger;
  readonly record: RecordJournal;
  readonly metrics: Metrics;
  /** For a node of a cluster. */
  readonly cluster?: ClusterFlags | undefined;
  /** Records all calls and replies between the loop and its ports; absent without `--record`. */
  readonly recording?: RecordingFile | undefined;
}

/** A problem or event for a user who watches the terminal, in one line. */
export interface Note {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

/** The interface of a kubelet for the process. Nothing happens before `run$` is subscribed. */
export interface KubeletHandle {
  /** The loop. Completes by itself only with `--runonce`; an error is a bug and ends the process with code 1. */
  readonly run$: Observable<unknown>;
  /** Stops every pod while `run$` is still subscribed; completes when all have stopped. */
  readonly stopPods$: Observable<unknown>;
  /** The pods of the agent with the statuses that it knows, for `/pods`. */
  readonly pods: () => readonly Pod[];
  /** The same on every change, beginning with the current pods. */
  readonly pod$: Observable<readonly Pod[]>;
  /** Emits after each change of a pod, and after each read of a pod from the runtime. Errors: none. Ends: never. */
  readonly podChange$: Observable<unknown>;
  /** Resolves when the agent knows its pods, after five seconds at the latest. Errors: none. */
  readonly known: () => Promise<unknown>;
  /** The pods that the runtime runs. */
  readonly runningPods: () => readonly RunningPod[];
  /**
   * Keeps a serving certificate for the addresses of the node in `--cert-dir` while it is subscribed, and emits the one in use. Emits
   * nothing without an API server. Errors: none. Ends: never.
   */
  readonly servingCertificate$: Observable<NodeCertificate>;
  /** The pod in the runtime, while it runs there. The UID of a mirror pod means its static pod. */
  readonly findRunning: (pod: PodRef) => RuntimePodStatus | undefined;
  /** The streams of the runtime, for clients of the kubelet API. */
  readonly streaming: StreamingService;
  /** Sends reviews of clients to the API server. Errors: also without a connection to one. */
  readonly reviewApi: Pick<ApiServer, 'request'>;
  /** Calls of clients of the kubelet API to the runtime. Errors: also while there is no connection to one. */
  readonly runtime: Pick<RuntimeService, 'containerStatus' | 'execSync' | 'checkpointContainer'>;
  /** The figures of the node for the kubelet API, sampled on request. */
  readonly stats: NodeStats;
  /** The checks by name, such as `syncloop`. */
  readonly healthChecks: Readonly<Record<string, () => Error | undefined>>;
}

export type CreateKubelet = (environment: KubeletEnvironment) => KubeletHandle;
