import type { Pod } from '../../model/pod/pod.js';
import { activePods, isActive } from './active-pods.js';
import type { KubeletState } from './kubelet-state.js';

/** The active pods of the node, while pods are admitted one by one. */
export interface ActiveBeside {
  /** Returns every active pod except this one. */
  readonly beside: (pod: Pod) => readonly Pod[];
  /** Notes that this pod was admitted or rejected. */
  readonly handled: (pod: Pod) => void;
}

/**
 * Searches all pods for the active ones once, at the first call of `beside`, and not for each admitted pod: often many pods have ended
 * or were rejected, and few are active.
 */
export const activeBeside = (state: Pick<KubeletState, 'pods' | 'workers' | 'statuses' | 'rejected'>): ActiveBeside => {
  let active: Map<string, Pod> | undefined;
  return {
    beside: ({ metadata: { uid } }) => {
      active ??= new Map(activePods(state).map((pod) => [pod.metadata.uid, pod]));
      return [...active.values()].filter((other) => other.metadata.uid !== uid);
    },
    handled: ({ metadata: { uid } }) => {
      const pod = state.pods.get(uid);
      if (pod && isActive(state, pod)) active?.set(uid, pod);
      else active?.delete(uid);
    },
  };
};
