import { errorText } from '../../model/cri-error.js';
import { countRunning, type PlegCadence } from '../../model/pleg.js';
import type { RuntimePod } from '../../model/runtime-pod.js';
import type { PlegObservation } from '../pleg.js';
import type { LoopDesk } from './loop-desk.js';

/** What is remembered of the relists, for the health of the node. */
export interface PlegWatch {
  /** The scheduler's milliseconds; undefined until a relist has succeeded. */
  lastRelistAt: number | undefined;
  /** How often they come now. */
  cadence: PlegCadence;
}

/** Measures relists and reads, and says which failed; `listed` hears what every good relist saw. */
export const observePleg =
  (
    { metrics, log }: Pick<LoopDesk, 'metrics' | 'log'>,
    watch: PlegWatch,
    listed: (pods: readonly RuntimePod[]) => void = () => undefined,
  ) =>
  (observation: PlegObservation): void => {
    if (observation.kind === 'changed') {
      metrics.running(observation.pods, { ...NO_CONTAINERS, ...observation.containers });
      return;
    }
    if (observation.kind === 'pod-read-late') {
      metrics.podReadLate();
      log.warn({ uid: observation.uid }, 'the runtime takes long to tell the state of a pod; the others go on');
      return;
    }
    const seconds = observation.durationMs / 1000;
    if (observation.kind === 'pod-read') {
      metrics.podRelist(seconds);
      if (observation.error !== undefined) {
        log.warn(
          { uid: observation.uid, error: errorText(observation.error) },
          'a pod could not be read from the runtime',
        );
      }
      return;
    }
    const { at, intervalMs, pods, error } = observation;
    metrics.relist({ seconds, intervalSeconds: intervalMs === undefined ? undefined : intervalMs / 1000, at });
    if (!pods) {
      log.warn({ error: errorText(error) }, 'the pods of the runtime could not be listed');
      return;
    }
    watch.lastRelistAt = at;
    const { pods: running, containers } = countRunning(pods);
    metrics.running(running, { ...NO_CONTAINERS, ...containers });
    listed(pods);
  };

const NO_CONTAINERS = { created: 0, running: 0, exited: 0, unknown: 0 };
