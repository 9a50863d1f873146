import type { JournalId } from '../../model/journal.js';
import { isTerminalPhase, type Pod, podRef } from '../../model/pod.js';
import type { PodConfigUpdate } from '../../model/pod-config.js';
import type { PodUpdateType } from '../../model/pod-workers/pod-update.js';
import type { Delivery } from '../../model/pod-workers/pod-worker-registry.js';
import { qosClass } from '../../model/pod-status/qos.js';
import { handleProblem } from './handle-problem.js';
import { activePods, type LoopDesk } from './loop-desk.js';

type PodsUpdate = Extract<PodConfigUpdate, { readonly kind: 'pods' }>;
/** What one pod of an update asks of the workers. */
type Handle = (pod: Pod, cause: JournalId) => readonly Delivery[];

/**
 * What a change of configuration asks of the workers. A source counts as heard only once its update was handled.
 *
 * Source: pkg/kubelet/kubelet.go HandlePodAdditions, HandlePodUpdates, HandlePodRemoves, HandlePodReconcile
 */
export const handleConfig = (desk: LoopDesk): ((update: PodConfigUpdate) => readonly Delivery[]) => {
  const { pods, workers, sources, record, scheduler } = desk;

  const dispatch = (type: PodUpdateType, pod: Pod, cause: JournalId): readonly Delivery[] => {
    const resolved = pods.resolve(pod);
    if (!resolved.pod) return [];
    const { mirrorPod } = resolved;
    return workers.update(
      { type, pod: resolved.pod, mirrorPod, startedAt: scheduler.now(), causes: [cause] },
      scheduler.now(),
    );
  };

  const handlers: Readonly<Record<PodsUpdate['op'], Handle>> = {
    ADD: (pod, cause) => {
      pods.set(pod);
      if (pods.resolve(pod).isMirror) return dispatch('update', pod, cause);
      return isRejected(desk, pod, cause) ? [] : dispatch('create', pod, cause);
    },
    UPDATE: (pod, cause) => {
      pods.set(pod);
      return dispatch('update', pod, cause);
    },
    // Graceful deletion: the pod is still wanted until its worker has seen it through.
    DELETE: (pod, cause) => {
      pods.set(pod);
      return dispatch('update', pod, cause);
    },
    REMOVE: (pod, cause) => {
      const { isMirror } = pods.resolve(pod);
      pods.remove(pod);
      if (isMirror) return dispatch('update', pod, cause);
      // While a source has not been heard, absence proves nothing; housekeeping makes up for it.
      if (!sources.all) return [];
      return workers.update({ type: 'kill', pod, startedAt: scheduler.now(), causes: [cause] }, scheduler.now());
    },
    RECONCILE: (pod) => {
      pods.set(pod);
      return [];
    },
  };

  const tell = handleProblem(desk);

  return (update) => {
    if (update.kind === 'problem') {
      tell(update);
      return [];
    }
    const { op, source, pods: changed } = update;
    const inOrder = op === 'ADD' ? changed.toSorted(byCreation) : changed;
    const deliveries = inOrder.flatMap((pod) => {
      const cause = record({ kind: 'config', source, op, pod: podRef(pod), causes: [] });
      return handlers[op](pod, cause);
    });
    sources.add(source);
    return deliveries;
  };
};

const byCreation = (one: Pod, other: Pod): number =>
  (one.metadata.creationTimestamp ?? '').localeCompare(other.metadata.creationTimestamp ?? '');

/** A pod that has ended, or is on its way out, is not asked again whether it may come in. */
const isRejected = (desk: LoopDesk, pod: Pod, cause: JournalId): boolean => {
  const { workers, statuses, record, recordEvent } = desk;
  const { uid } = pod.metadata;
  if (workers.isTerminationRequested(uid) || isTerminalPhase(pod.status?.phase)) return false;
  const rejection = desk.admit(
    pod,
    activePods(desk).filter((other) => other.metadata.uid !== uid),
  );
  if (!rejection) return false;
  const { reason, message } = rejection;
  const decision = record({ kind: 'admission-rejected', reason, message, pod: podRef(pod), causes: [cause] });
  recordEvent({ pod, type: 'Warning', reason, message, causes: [decision] });
  statuses.set(uid, { qosClass: qosClass(pod), phase: 'Failed', reason, message: `Pod was rejected: ${message}` });
  return true;
};
