import type { Observable } from 'rxjs';
import type { Pod } from '../../model/pod/pod.js';
import type { LogSize } from '../../model/stats/log-size.js';
import type { MachineSample, NodeSample } from '../../model/stats/node-sample.js';
import type { RuntimeMetrics } from '../../model/stats/runtime-metrics.js';

/**
 * Samples of the node, each taken when it is subscribed. Subscribers at the same time share one; the next one takes a new sample. Nothing
 * runs without a subscriber.
 *
 * Errors: none; a fault leaves out its own figures, and is one of the `problems` of the sample.
 * Ends:   after one sample.
 */
export interface NodeStats {
  /** CPU, memory and swap. */
  readonly resources$: Observable<NodeSample>;
  /** These, and disks, network, volumes. */
  readonly summary$: Observable<NodeSample>;
  /** All figures of cgroups, and network. */
  readonly cgroups$: Observable<NodeSample>;
  /** The metrics that the runtime makes; undefined if these are not wanted, or the runtime does not implement them. */
  readonly runtimeMetrics$: Observable<RuntimeSample | undefined>;
  /** The sizes of the logs of the containers that run; the runtime is not asked. */
  readonly logs$: Observable<readonly LogSize[]>;
}

/** Samples of a part of the node. Errors and ends: as above. */
export interface PartialStats {
  /** The node alone: CPU, memory, disks and processes, without pods. */
  readonly node$: Observable<NodeSample>;
  /** A summary with these pods alone, which have their statuses. */
  readonly summaryOf: (pods: readonly Pod[]) => Observable<NodeSample>;
}

/** The metrics of the runtime, and the machine. */
export interface RuntimeSample extends RuntimeMetrics {
  readonly machine?: MachineSample;
}
