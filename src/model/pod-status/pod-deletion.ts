import { isMirrorPod, isTerminalPhase, type Pod } from '../pod/pod.js';

/**
 * Whether the pod may be removed from the API: its deletion is requested, it has ended in the API, and its resources on
 * the node are cleaned up. Mirror pods are removed elsewhere.
 *
 * Source: pkg/kubelet/status/status_manager.go canBeDeleted
 */
export const canBeDeleted = ({ metadata, status }: Pick<Pod, 'metadata' | 'status'>, isFinished: boolean): boolean =>
  metadata.deletionTimestamp !== undefined &&
  !isMirrorPod({ metadata }) &&
  isTerminalPhase(status?.phase) &&
  isFinished;
