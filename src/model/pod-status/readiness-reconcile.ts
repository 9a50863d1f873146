import type { Pod } from '../pod.js';
import { containersReadyCondition, OWNED_CONDITIONS, readyCondition } from './conditions.js';
import type { PodPhase } from './pod-phase.js';

/**
 * Whether Ready, as the API has it, is not what the API's own conditions for the readiness gates make of it: somebody has changed one
 * of them, and only this agent can draw the conclusion.
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

/** The node has thrown the pod out, and the API knows it. Source: pkg/kubelet/eviction/helpers.go PodIsEvicted */
export const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted';
