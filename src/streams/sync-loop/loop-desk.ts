import type { SchedulerLike } from 'rxjs';
import type { Admit } from '../../model/admission/rejection.js';
import type { Pod } from '../../model/pod.js';
import type { PodManager } from '../../model/pod-manager.js';
import type { PodStartTracker } from '../../model/pod-start-tracker.js';
import type { PodStatusStore } from '../../model/pod-status-store.js';
import type { PodWorkerRegistry } from '../../model/pod-workers/pod-worker-registry.js';
import type { SourcesReady } from '../../model/sources-ready.js';
import type { WorkQueue } from '../../model/work-queue.js';
import type { BackOffs } from '../pod-sync/back-offs.js';
import type { Logger, Metrics, RecordEvent, RecordJournal, WallClock } from '../ports.js';

/** What the handlers of the loop share: one owner for each kind of state, and the ports through which they speak. */
export interface LoopDesk {
  readonly pods: PodManager;
  readonly workers: PodWorkerRegistry;
  readonly queue: WorkQueue;
  readonly statuses: PodStatusStore;
  readonly sources: SourcesReady;
  readonly admit: Admit;
  readonly backOffs: BackOffs;
  /** How long pods of the API take to start; absent where nobody measures that. */
  readonly podStarts?: PodStartTracker | undefined;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** Pods that the sources want and that have not ended. Source: pkg/kubelet/kubelet_pods.go filterOutInactivePods */
export const activePods = ({
  pods,
  workers,
  statuses,
}: Pick<LoopDesk, 'pods' | 'workers' | 'statuses'>): readonly Pod[] =>
  pods.pods().filter((pod) => {
    const { uid } = pod.metadata;
    if (workers.isKnownTerminated(uid)) return false;
    const phases = [pod.status?.phase, statuses.get(uid)?.phase];
    const hasEnded = phases.some((phase) => phase === 'Succeeded' || phase === 'Failed');
    return !hasEnded || workers.isTerminationRequested(uid);
  });
