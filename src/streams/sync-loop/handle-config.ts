import type { JournalId } from '../../model/journal.js';
import { isTerminalPhase, type Pod, podRef } from '../../model/pod.js';
import type { PodConfigUpdate } from '../../model/pod-config.js';
import type { PodUpdateType } from '../../model/pod-workers/pod-update.js';
import type { Delivery } from '../../model/pod-workers/pod-worker-registry.js';
import { isReadinessOutdated } from '../../model/pod-status/readiness-reconcile.js';
import { rejectedPodStatus } from '../../model/pod-status/rejected-pod-status.js';
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
  const { pods, workers, sources, statuses, record, scheduler } = desk;

  const dispatch = (type: PodUpdateType, pod: Pod, cause: JournalId): readonly Delivery[] => {
    const resolved = pods.resolve(pod);
    if (!resolved.pod) return [];
    const { mirrorPod } = resolved;
    return workers.update(
      { type, pod: resolved.pod, mirrorPod, startedAt: scheduler.now(), causes: [cause] },
      scheduler.now(),
    );
  };

  /** What the API has of a pod decides whether its status is written, or whether it may go. */
  const seen = (pod: Pod): void => {
    const uid = pods.resolve(pod).pod?.metadata.uid;
    if (uid !== undefined) statuses.touch(uid);
  };

  const handlers: Readonly<Record<PodsUpdate['op'], Handle>> = {
    ADD: (pod, cause) => {
      pods.set(pod);
      if (pods.resolve(pod).isMirror) {
        seen(pod);
        return dispatch('update', pod, cause);
      }
      return isRejected(desk, pod, cause) ? [] : dispatch('create', pod, cause);
    },
    UPDATE: (pod, cause) => {
      pods.set(pod);
      seen(pod);
      return dispatch('update', pod, cause);
    },
    // Graceful deletion: the pod is still wanted until its worker has seen it through.
    DELETE: (pod, cause) => {
      pods.set(pod);
      seen(pod);
      return dispatch('update', pod, cause);
    },
    REMOVE: (pod, cause) => {
      const { isMirror } = pods.resolve(pod);
      pods.remove(pod);
      seen(pod);
      if (isMirror) return dispatch('update', pod, cause);
      // While a source has not been heard, absence proves nothing; housekeeping makes up for it.
      if (!sources.all) return [];
      return workers.update({ type: 'kill', pod, startedAt: scheduler.now(), causes: [cause] }, scheduler.now());
    },
    // The API has another status. That is nothing to act on, unless Ready has to follow what others say.
    RECONCILE: (pod, cause) => {
      pods.set(pod);
      seen(pod);
      const { pod: resolved } = pods.resolve(pod);
      return resolved && isReadinessOutdated(resolved) ? dispatch('sync', pod, cause) : [];
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
      if (source === 'api' && op !== 'REMOVE') measureStart(desk, pod);
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
  const { workers, statuses, record, recordEvent, wallClock } = desk;
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
  statuses.set(uid, rejectedPodStatus(pod, rejection, wallClock()));
  return true;
};

const measureStart = ({ podStarts, metrics, wallClock }: LoopDesk, pod: Pod): void => {
  const start = podStarts?.watched(pod, wallClock());
  if (!start) return;
  metrics.podStartObserved(start.total);
  if (start.withoutPulls === undefined) return;
  metrics.podStartWithoutPulls(start.withoutPulls);
  if (start.isFirstWithNetwork) metrics.firstNetworkPodStart(start.withoutPulls);
};
