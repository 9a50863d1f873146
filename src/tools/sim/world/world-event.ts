import type { PodFigures, SignalObservations } from '../../../model/eviction/figures.js';
import type { JournalEntry } from '../../../model/journal/journal.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { ApiRequest } from '../../../streams/ports/api-server.js';
import type { StoredObject } from '../api-server/stored-object.js';
import type { ProbeName } from './behaviour.js';

/** One instance of a container of the simulated runtime. */
export interface SimulatedInstance {
  readonly uid: string;
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly containerId: string;
  readonly sandboxId: string;
  readonly attempt: number;
  /** The image in CreateContainer's user-specified form: the pod's text. */
  readonly image: string;
}

export interface SimulatedPodSandbox {
  readonly uid: string;
  readonly pod: string;
  readonly namespace: string;
  readonly sandboxId: string;
  readonly attempt: number;
}

/**
 * An event in a simulated world, emitted when it happens: the truth, independent of the agent's knowledge. `at` is the
 * virtual time in milliseconds.
 */
export type WorldEvent = { readonly at: number } & (
  | ({ readonly kind: 'sandbox-created' | 'sandbox-stopped' | 'sandbox-removed' } & SimulatedPodSandbox)
  | ({ readonly kind: 'container-created' | 'container-started' | 'container-removed' } & SimulatedInstance)
  | ({ readonly kind: 'container-exited'; readonly exitCode: number } & SimulatedInstance)
  /** The container ran, but after a boot the runtime has no record of its start, and shows it as created. */
  | ({ readonly kind: 'container-start-lost' } & SimulatedInstance)
  /** After a boot the runtime shows it in an unknown state. */
  | ({ readonly kind: 'container-status-lost' } & SimulatedInstance)
  /** StopContainer has reached the runtime. */
  | ({ readonly kind: 'container-stopping'; readonly graceSeconds: number } & SimulatedInstance)
  /** A directory that containers can mount is there from now on, or no more: a volume, or a sub-path of one. */
  | { readonly kind: 'volume-made' | 'volume-gone'; readonly path: string; readonly uid: string }
  | { readonly kind: 'image-pulled'; readonly image: string; readonly wasThere?: boolean }
  /** By the names in pods that stood for this image. */
  | { readonly kind: 'image-removed'; readonly names: readonly string[] }
  /** The record of a pull that has begun is on the disk, or is being removed. */
  | { readonly kind: 'pull-intent'; readonly image: string; readonly isOnDisk: boolean }
  /** A probe or another command has reached a container and was answered. */
  | ({
      readonly kind: 'asked';
      readonly how: 'exec' | 'http' | 'tcp' | 'grpc';
      /** The probe, as far as the spec of the pod identifies it; absent for a hook. */
      readonly which?: ProbeName;
      /** The instance that was meant, if it is another one: the answer of a slow probe may be that of its successor. */
      readonly meantFor?: string;
      readonly ok: boolean;
    } & SimulatedInstance)
  /** The agent calls the runtime; `call` is the CRI method. `number` identifies the call within the world. */
  | { readonly kind: 'call'; readonly number: number; readonly call: string; readonly request: object }
  | { readonly kind: 'call-ended'; readonly number: number; readonly call: string; readonly error?: string }
  /** The agent has cancelled the call, or was killed, before it ended. */
  | { readonly kind: 'call-given-up'; readonly number: number; readonly call: string }
  | { readonly kind: 'runtime-stopped' | 'runtime-started' }
  /** The machine is asked to shut down, and waits for the agent if that `isDelayed`. */
  | { readonly kind: 'shutdown-requested'; readonly isDelayed: boolean }
  /** The agent measures the node. */
  | { readonly kind: 'node-measured'; readonly observations: SignalObservations }
  /** The agent measures these pods. */
  | { readonly kind: 'pods-measured'; readonly figures: readonly PodFigures[] }
  /** The machine is off. Everything that ended with it follows. */
  | { readonly kind: 'power-lost' }
  /** The machine has booted. The agent starts next. */
  | { readonly kind: 'booted'; readonly bootId: string }
  /**
   * The offset of the agent's wall clock, or of the runtime's, from `at` now. 0 at first. From now on a second has `rate`
   * seconds of that clock; 1 at first.
   */
  | { readonly kind: 'clock-set' | 'runtime-clock-set'; readonly aheadMs: number; readonly rate?: number }
  /** The pods of a source from now on. */
  | { readonly kind: 'wanted'; readonly source: string; readonly pods: readonly Pod[] }
  /** An object of the API changes now. */
  | {
      readonly kind: 'api-changed';
      /** Such as `pods`. */
      readonly resource: string;
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      /** The last version of a deleted one. */
      readonly object: StoredObject;
      readonly before?: StoredObject;
      readonly by: 'agent' | 'user';
    }
  /** A request, or the beginning of a watch, has reached the API server; the client may not receive the reply. */
  | {
      readonly kind: 'api-answered';
      readonly by: 'agent' | 'user';
      readonly method: ApiRequest['method'];
      readonly path: string;
      readonly isWatch: boolean;
      /** The HTTP status. */
      readonly code: number;
      readonly message?: string;
    }
  | { readonly kind: 'api-stopped' | 'api-started' }
  | { readonly kind: 'agent-started'; readonly life: number }
  /** `actionsLeft`: the agent's timers and calls that it has not cancelled. */
  | { readonly kind: 'agent-killed'; readonly life: number; readonly actionsLeft: number }
  /** The agent ended by itself, after it has stopped every pod on request. */
  | { readonly kind: 'agent-stopped'; readonly life: number; readonly actionsLeft: number }
  /** A journal entry of the agent. */
  | { readonly kind: 'journal'; readonly entry: JournalEntry }
  /** The pods with their statuses in the agent, after a run of a worker. */
  | { readonly kind: 'status'; readonly uid: string; readonly pod: Pod | undefined }
);

export type TellWorld = (event: WorldEvent) => void;
