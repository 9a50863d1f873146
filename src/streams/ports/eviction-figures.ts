import type { Observable } from 'rxjs';
import type { SignalObservations, PodFigures } from '../../model/eviction/figures.js';
import type { DiskDevices } from '../../model/eviction/signals.js';
import type { Pod } from '../../model/pod/pod.js';

/** Measures the node for eviction. Each call measures again and emits once. */
export interface EvictionFigures {
  /** The resources of the node. Errors: none; what cannot be measured is absent. */
  readonly node: () => Observable<SignalObservations>;
  /** The usage of these pods, which have their statuses; one that does not run is absent. Errors: the runtime cannot list its pods. */
  readonly pods: (pods: readonly Pod[]) => Observable<readonly PodFigures[]>;
  /** The file systems. Errors: the runtime does not say where its images are, or a device cannot be read. */
  readonly devices: () => Observable<DiskDevices>;
}
