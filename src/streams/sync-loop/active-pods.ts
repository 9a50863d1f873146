import type { Pod } from '../../model/pod/pod.js';
import type { KubeletState } from './kubelet-state.js';

/** Whether a pod of the sources has not ended. Source: pkg/kubelet/kubelet_pods.go filterOutInactivePods */
export const isActive = ({ workers, statuses }: Pick<KubeletState, 'workers' | 'statuses'>, pod: Pod): boolean => {
  const { uid } = pod.metadata;
  if (workers.isKnownTerminated(uid)) return false;
  const phases = [pod.status?.phase, statuses.get(uid)?.phase];
  const hasEnded = phases.some((phase) => phase === 'Succeeded' || phase === 'Failed');
  return !hasEnded || workers.isTerminationRequested(uid);
};

/** The pods of the sources that have not ended. */
export const activePods = (state: Pick<KubeletState, 'pods' | 'workers' | 'statuses'>): readonly Pod[] =>
  state.pods.pods().filter((pod) => isActive(state, pod));
