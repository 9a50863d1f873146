import type { Pod } from '../pod/pod.js';

/** The reason why a node rejects a pod. */
export interface Rejection {
  /** The reason of the event and of the status: `OutOfcpu`. */
  readonly reason: string;
  readonly message: string;
  /** Details for the journal that the kubelet's message leaves out. */
  readonly detail?: string;
}

/** Returns the rejection of a pod, given the active pods of the node; undefined if the node admits it. */
export type Admit = (pod: Pod, active: readonly Pod[]) => Rejection | undefined;

/** Runs the checks in order and returns the first rejection. */
export const firstRejection =
  (...handlers: readonly Admit[]): Admit =>
  (pod, active) => {
    for (const admit of handlers) {
      const rejection = admit(pod, active);
      if (rejection) return rejection;
    }
    return undefined;
  };
