import type { Pod } from '../../model/pod/pod.js';
import type { KubeletState } from './kubelet-state.js';

type ActiveState = Pick<KubeletState, 'workers' | 'statuses' | 'rejected'>;

/**
 * Whether a pod of the sources has not ended. A pod that was rejected never counts, also while its worker ends it.
 *
 * Source: pkg/kubelet/kubelet_pods.go filterOutInactivePods
 */
export const isActive = ({ workers, statuses, rejected }: ActiveState, pod: Pod): boolean => {
  const { uid } = pod.metadata;
  if (rejected.has(uid) || workers.isKnownTerminated(uid)) return false;
  const phases = [pod.status?.phase, statuses.get(uid)?.phase];
  const hasEnded = phases.some((phase) => phase === 'Succeeded' || phase === 'Failed');
  return !hasEnded || workers.isTerminationRequested(uid);
};

/** The pods of the sources that have not ended. */
export const activePods = (state: ActiveState & Pick<KubeletState, 'pods'>): readonly Pod[] =>
  state.pods.pods().filter((pod) => isActive(state, pod));
