import type { Admit } from '../admission/rejection.js';
import type { RuntimeReport } from '../node/runtime-report.js';

/** The reason why the node is not ready. Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go ShutdownStatus */
const PROBLEM = 'node is shutting down';

/**
 * Rejects every pod while the node shuts down. It is the last check of admission.
 *
 * Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go Admit
 */
export const admitUntilShutdown =
  (isShuttingDown: () => boolean): Admit =>
  () =>
    isShuttingDown()
      ? { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' }
      : undefined;

/**
 * Adds the shutdown to the problems of the node, which are the message of its condition Ready, behind those of the
 * runtime. The reason of the condition is that of all problems, `KubeletNotReady`.
 *
 * Source: pkg/kubelet/nodestatus/setters.go ReadyCondition
 */
export const reportWithShutdown = (report: RuntimeReport, isShuttingDown: boolean): RuntimeReport =>
  isShuttingDown ? { ...report, problems: [...report.problems, PROBLEM] } : report;
