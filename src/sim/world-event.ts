import type { JournalEntry } from '../model/journal.js';
import type { Pod } from '../model/pod.js';
import type { ApiRequest } from '../streams/ports.js';
import type { StoredObject } from './api-server/stored-object.js';
import type { ProbeName } from './behaviour.js';

/** Of one instance of a container, as the simulated runtime sees it. */
export interface SimulatedInstance {
  readonly uid: string;
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly containerId: string;
  readonly sandboxId: string;
  readonly attempt: number;
  /** As CreateContainer named it for the user: what the pod says. */
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
 * What happens in a simulated world, told at the moment when it happens: the truth, whatever the agent has been told of it.
 * `at` is the virtual time in milliseconds.
 */
export type WorldEvent = { readonly at: number } & (
  | ({ readonly kind: 'sandbox-created' | 'sandbox-stopped' | 'sandbox-removed' } & SimulatedPodSandbox)
  | ({ readonly kind: 'container-created' | 'container-started' | 'container-removed' } & SimulatedInstance)
  | ({ readonly kind: 'container-exited'; readonly exitCode: number } & SimulatedInstance)
  /** StopContainer has reached the runtime. */
  | ({ readonly kind: 'container-stopping'; readonly graceSeconds: number } & SimulatedInstance)
  | { readonly kind: 'image-pulled'; readonly image: string }
  /** A probe, or any other question, has reached a container and was answered. */
  | ({
      readonly kind: 'asked';
      readonly how: 'exec' | 'http' | 'tcp' | 'grpc';
      /** Which probe it was, as far as the spec of the pod lets it be told; absent for a hook. */
      readonly which?: ProbeName;
      readonly ok: boolean;
    } & SimulatedInstance)
  /** The agent calls the runtime; `call` is the CRI method. `number` names the call within the world. */
  | { readonly kind: 'call'; readonly number: number; readonly call: string; readonly request: object }
  | { readonly kind: 'call-ended'; readonly number: number; readonly call: string; readonly error?: string }
  /** The agent has unsubscribed from the call, or was killed, before it ended. */
  | { readonly kind: 'call-given-up'; readonly number: number; readonly call: string }
  | { readonly kind: 'runtime-stopped' | 'runtime-started' }
  /** The clock of the wall, of the agent and of the runtime alike, is so far ahead of `at` from now on. 0 at first. */
  | { readonly kind: 'clock-set'; readonly aheadMs: number }
  /** What a source wants from now on. */
  | { readonly kind: 'wanted'; readonly source: string; readonly pods: readonly Pod[] }
  /** An object of the API is another one from now on. */
  | {
      readonly kind: 'api-changed';
      /** Such as `pods`. */
      readonly resource: string;
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      /** As it was last, for one that is gone. */
      readonly object: StoredObject;
      readonly before?: StoredObject;
      readonly by: 'agent' | 'user';
    }
  /** A request, or the beginning of a watch, has reached the API server; whether anybody hears the answer is another matter. */
  | {
      readonly kind: 'api-answered';
      readonly by: 'agent' | 'user';
      readonly method: ApiRequest['method'];
      readonly path: string;
      readonly isWatch: boolean;
      /** HTTP status. */
      readonly code: number;
      readonly message?: string;
    }
  | { readonly kind: 'api-stopped' | 'api-started' }
  | { readonly kind: 'agent-started'; readonly life: number }
  /** `actionsLeft`: timers that the agent had scheduled, and calls that it had begun, and has not taken back. */
  | { readonly kind: 'agent-killed'; readonly life: number; readonly actionsLeft: number }
  /** By itself, after it has stopped every pod as it was asked to. */
  | { readonly kind: 'agent-stopped'; readonly life: number; readonly actionsLeft: number }
  /** What the agent wrote into its journal. */
  | { readonly kind: 'journal'; readonly entry: JournalEntry }
  /** The pods with their statuses as the agent shows them, after a run of the worker of one of them. */
  | { readonly kind: 'status'; readonly uid: string; readonly pod: Pod | undefined }
);

export type TellWorld = (event: WorldEvent) => void;
