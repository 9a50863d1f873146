import type { ShutdownState } from '../../model/shutdown/shutdown-state.js';

/** The measurements of a shutdown of the node. */
export interface ShutdownMetrics {
  /**
   * The newest shutdown: `kubelet_graceful_shutdown_start_time_seconds` and `kubelet_graceful_shutdown_end_time_seconds`.
   */
  readonly nodeShutdown: (state: ShutdownState) => void;
}
