import type { PodUpdate } from './pod-update.js';

/** A request to run the worker of a pod. */
export interface Wake {
  readonly uid: string;
  /**
   * The update that waits for the worker, folded with the earlier ones. The run takes the one in the record, which is newer if
   * another update was applied while this wake waited at the gate or for its hop.
   */
  readonly update: PodUpdate;
  /** Cancels the run in progress: the pod has to stop, or has less time to stop than before. */
  readonly cancel: boolean;
}
