import type { Pod } from '../pod.js';

/** Why a node does not take a pod in. */
export interface Rejection {
  /** Of the event and of the status: `OutOfcpu`. */
  readonly reason: string;
  readonly message: string;
}

/** Whether this node takes a pod in, next to those that are active on it. */
export type Admit = (pod: Pod, active: readonly Pod[]) => Rejection | undefined;

/** Asks one after the other; the first that rejects a pod has the last word. */
export const firstRejection =
  (...handlers: readonly Admit[]): Admit =>
  (pod, active) => {
    for (const admit of handlers) {
      const rejection = admit(pod, active);
      if (rejection) return rejection;
    }
    return undefined;
  };
