import type { Observable } from 'rxjs';

/** A container by the names of the API. */
export interface NamedContainer {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The whole reply to a client of the kubelet API. */
export interface CommandReply {
  readonly status: number;
  readonly type?: string;
  readonly body: string | Uint8Array;
}

/** Runs a command in a container. Emits one reply; unsubscribing ends the command. `uid` narrows the name of the pod. */
export type RunCommand = (
  request: NamedContainer & { readonly uid?: string; readonly command: readonly string[] },
) => Observable<CommandReply>;

/** Writes a checkpoint of a container. Emits one reply. `timeouts` are the values of the query. */
export type CheckpointContainer = (
  request: NamedContainer & { readonly timeouts: readonly string[] },
) => Observable<CommandReply>;
