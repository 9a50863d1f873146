import type { Observable } from 'rxjs';
import type { Pod } from '../model/pod.js';
import type { RecordingFile } from '../recording/recording-file.js';
import type { Logger, Metrics, RecordJournal } from '../streams/ports.js';
import type { ClusterFlags } from './cluster/cluster-flags.js';
import type { AgentPaths } from './config/agent-paths.js';
import type { AgentConfig } from './config/kubelet-configuration.js';

/** What the process around it gives a kubelet. */
export interface KubeletEnvironment {
  readonly config: AgentConfig;
  readonly nodeName: string;
  readonly paths: AgentPaths;
  /** Of the runtime, whether real or embedded: a path. */
  readonly runtimeSocket: string;
  readonly imageSocket: string;
  readonly log: Logger;
  readonly record: RecordJournal;
  readonly metrics: Metrics;
  /** For a node of a cluster. */
  readonly cluster?: ClusterFlags | undefined;
  /** Takes everything that passes between the loop and its ports, where a recording was asked for. */
  readonly recording?: RecordingFile | undefined;
}

/** A problem or event that a person watching should see, in one line. */
export interface Note {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

/** What the process around it needs of a kubelet. Nothing happens before `run$` is subscribed. */
export interface KubeletHandle {
  /** The loop. Ends by itself only when it was told to run once; an error is a bug and ends the process with code 1. */
  readonly run$: Observable<unknown>;
  /** Stops every pod while `run$` is still subscribed; completes when none is left. */
  readonly stopPods$: Observable<unknown>;
  /** What the agent wants to run with the status that it knows, for `/pods`. */
  readonly pods: () => readonly Pod[];
  /** The same whenever it changes, beginning with what is. */
  readonly pod$: Observable<readonly Pod[]>;
  /** By name, such as `syncloop`. */
  readonly healthChecks: Readonly<Record<string, () => Error | undefined>>;
}

export type CreateKubelet = (environment: KubeletEnvironment) => KubeletHandle;
