import { isMirrorPod, isTerminalPhase, type Pod } from '../pod.js';

/**
 * Whether the pod may go from the API: it is to be deleted, the API says that it has ended, and nothing of it is left on the node.
 * Mirrors go another way.
 *
 * Source: pkg/kubelet/status/status_manager.go canBeDeleted
 */
export const canBeDeleted = ({ metadata, status }: Pick<Pod, 'metadata' | 'status'>, isFinished: boolean): boolean =>
  metadata.deletionTimestamp !== undefined &&
  !isMirrorPod({ metadata }) &&
  isTerminalPhase(status?.phase) &&
  isFinished;
