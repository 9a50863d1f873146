import type { Pod } from '../pod/pod.js';
import { containersReadyCondition, OWNED_CONDITIONS, readyCondition } from './conditions.js';
import type { PodPhase } from './pod-phase.js';

/**
 * Whether Ready in the API differs from the result of the API's own conditions for the readiness gates: another writer
 * has changed a condition, and only this agent updates Ready.
 *
 * Source: pkg/kubelet/status/status_manager.go NeedToReconcilePodReadiness
 */
export const isReadinessOutdated = (pod: Pod): boolean => {
  const { status } = pod;
  if (!pod.spec.readinessGates?.length || !status) return false;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (!ready) return false;
  const others = (status.conditions ?? []).filter(({ type }) => !OWNED_CONDITIONS.has(type));
  const containersReady = containersReadyCondition(
    pod,
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])],
    status.phase as PodPhase,
  );
  const due = readyCondition(pod, containersReady, others);
  return ready.status !== due.status || (ready.message ?? '') !== (due.message ?? '');
};

/** Whether the node has evicted the pod and the API shows it. Source: pkg/kubelet/eviction/helpers.go PodIsEvicted */
export const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted';
