import { errorText } from '../../model/cri/cri-error.js';
import { countRunning } from '../../model/pleg/pleg.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';
import type { PlegObservation } from '../pleg/pleg-observation.js';
import type { LoopContext } from './loop-context.js';

/**
 * Measures relists and reads, and logs failures. Calls `relisted` with the pods of each successful relist and the time of its
 * request, in the scheduler's milliseconds.
 */
export const observePleg =
  (
    { metrics, log }: Pick<LoopContext, 'metrics' | 'log'>,
    relisted: (pods: readonly RuntimePod[], at: number) => void,
  ) =>
  (observation: PlegObservation): void => {
    if (observation.kind === 'changed') {
      metrics.running(observation.pods, { ...NO_CONTAINERS, ...observation.containers });
      return;
    }
    if (observation.kind === 'pod-read-late') {
      metrics.podReadLate();
      log.warn(
        { uid: observation.uid },
        'reading a pod from the runtime takes more than 10 s; other pods are not affected',
      );
      return;
    }
    const seconds = observation.durationMs / 1000;
    if (observation.kind === 'pod-read') {
      metrics.podRelist(seconds);
      if (observation.error !== undefined) {
        log.warn({ uid: observation.uid, error: errorText(observation.error) }, 'cannot read a pod from the runtime');
      }
      return;
    }
    const { at, intervalMs, pods, error } = observation;
    metrics.relist({ seconds, intervalSeconds: intervalMs === undefined ? undefined : intervalMs / 1000, at });
    if (!pods) {
      log.warn({ error: errorText(error) }, 'cannot list the pods of the runtime');
      return;
    }
    const { pods: running, containers } = countRunning(pods);
    metrics.running(running, { ...NO_CONTAINERS, ...containers });
    relisted(pods, at);
  };

const NO_CONTAINERS = { created: 0, running: 0, exited: 0, unknown: 0 };
