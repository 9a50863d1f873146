import { catchError, defer, EMPTY, type Observable } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { EVICTED, evictedStatus } from '../../model/eviction/evicted-status.js';
import type { Eviction } from '../../model/eviction/eviction.js';
import { formatPod } from '../../model/pod/pod.js';
import type { KillPod } from '../pod-workers/kill-pod-now.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { WallClock } from '../ports/wall-clock.js';

/** Stops a pod for good and completes once its containers have stopped. Errors: none; a pod that does not stop in time is being stopped even so. */
export type EvictPod = (eviction: Eviction) => Observable<never>;

export interface EvictPodPorts {
  readonly killPod: KillPod;
  readonly metrics: Pick<Metrics, 'podEvicted'>;
  readonly log: Logger;
  readonly wallClock: WallClock;
}

/** Source: pkg/kubelet/eviction/eviction_manager.go evictPod */
export const podEvictor =
  ({ killPod, metrics, log, wallClock }: EvictPodPorts): EvictPod =>
  ({ pod, signal, graceSeconds, message, annotations, reason, isDisrupted, observedAt }) =>
    defer(() => {
      const now = wallClock();
      const statusOverride = evictedStatus(pod, { message, isDisrupted, now });
      metrics.podEvicted(signal, observedAt === undefined ? undefined : Math.max(0, now - observedAt) / 1_000);
      log.warn({ pod: formatPod(pod), signal, reason }, 'evicting a pod');
      return killPod({
        pod,
        kill: { evict: true, graceSeconds, statusOverride },
        reason,
        event: { reason: EVICTED, message, annotations },
      }).pipe(
        catchError((error: unknown) => {
          log.warn({ pod: formatPod(pod), error: errorText(error) }, 'an evicted pod has not stopped in time');
          return EMPTY;
        }),
      );
    });
