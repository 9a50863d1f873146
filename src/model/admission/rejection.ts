import { isCriticalPod, type Pod } from '../pod/pod.js';
import type { MissingResource } from './missing-resources.js';

/** The reason why a node rejects a pod. */
export interface Rejection {
  /** The reason of the event and of the status: `OutOfcpu`. */
  readonly reason: string;
  readonly message: string;
  /** Details for the journal that the kubelet's message leaves out. */
  readonly detail?: string;
  /** The reason is that these are missing: for a critical pod, other pods may be stopped. */
  readonly missing?: readonly MissingResource[];
}

/** Returns the rejection of a pod, given the active pods of the node; undefined if the node admits it. */
export type Admit = (pod: Pod, active: readonly Pod[]) => Rejection | undefined;

/**
 * Runs the checks in order and returns the first rejection. Missing resources reject a critical pod only if nothing else does, since other
 * pods may be stopped for it.
 *
 * Source: pkg/kubelet/preemption/preemption.go HandleAdmissionFailure
 */
export const firstRejection =
  (...handlers: readonly Admit[]): Admit =>
  (pod, active) => {
    const canWait = isCriticalPod(pod);
    const found: Rejection[] = [];
    for (const admit of handlers) {
      const rejection = admit(pod, active);
      if (rejection && !(canWait && rejection.missing)) return rejection;
      if (rejection) found.push(rejection);
    }
    return found[0];
  };
