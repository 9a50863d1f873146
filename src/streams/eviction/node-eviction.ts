import { EMPTY, type Observable } from 'rxjs';
import type { EvictionPolicy } from '../../model/eviction/eviction-policy.js';
import type { EvictionFigures } from '../ports/eviction-figures.js';
import { activePods } from '../sync-loop/active-pods.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { type EvictPodPorts, podEvictor } from './evict-pod.js';
import { evictionManager, type EvictionManagerOptions, type NodeReclaim } from './eviction-manager.js';

export interface NodeEvictionOptions
  extends EvictPodPorts, Pick<EvictionManagerOptions, 'recordEvent' | 'log' | 'scheduler'> {
  /** Without it no pod is evicted. */
  readonly policy: EvictionPolicy | undefined;
  /** Without it nothing is measured, and no pod is evicted. */
  readonly evictionFigures?: EvictionFigures;
  readonly state: KubeletState;
}

/** Evicts pods, and keeps the conditions of the node in the state. Emits nothing. Errors: none. Ends: never, or at once without a policy. */
export type Evict = (reclaim: NodeReclaim) => Observable<never>;

export const nodeEviction =
  (options: NodeEvictionOptions): Evict =>
  (reclaim) => {
    const { policy, evictionFigures, state } = options;
    if (!policy || !evictionFigures) return EMPTY;
    const figures: EvictionFigures = {
      ...evictionFigures,
      // The sources do not know when a pod has started.
      pods: (pods) => evictionFigures.pods(pods.map((pod) => state.pod(pod.metadata.uid) ?? pod)),
    };
    return evictionManager({
      ...{ ...options, policy, figures, reclaim },
      activePods: () => activePods(state),
      evictPod: podEvictor(options),
      isCleanedUp: (uid) => state.workers.shouldBeFinished(uid),
      reportPressure: (pressure) => state.apply({ kind: 'pressure-observed', pressure }),
    });
  };
