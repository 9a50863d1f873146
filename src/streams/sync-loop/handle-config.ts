import type { JournalId } from '../../model/journal/journal.js';
import { byCreation, formatPod, isStaticPod, type Pod, podRef } from '../../model/pod/pod.js';
import { formatFieldPath } from '../../model/manifest/field-issue.js';
import { priorityWarnings } from '../../model/manifest/priority-warnings.js';
import type { PodConfigUpdate } from '../../model/config/pod-config.js';
import type { PodUpdateType } from '../../model/pod-workers/pod-update.js';
import { requestedResizes } from '../../model/resize/requested-resizes.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import { isReadinessOutdated } from '../../model/pod-status/readiness-reconcile.js';
import { handleProblem } from './handle-problem.js';
import { type ActiveBeside, activeBeside } from './active-beside.js';
import { admission } from './admission.js';
import type { LoopContext } from './loop-context.js';

type PodsUpdate = Extract<PodConfigUpdate, { readonly kind: 'pods' }>;
/** Handles one pod of an update and returns the wakes of workers. */
type Handle = (pod: Pod, cause: JournalId, active: ActiveBeside) => readonly Wake[];

/**
 * Handles a change of configuration and returns the wakes of workers. A source is ready only after its first update was handled.
 *
 * Source: pkg/kubelet/kubelet.go HandlePodAdditions, HandlePodUpdates, HandlePodRemoves, HandlePodReconcile
 */
export const handleConfig = (context: LoopContext): ((update: PodConfigUpdate) => readonly Wake[]) => {
  const { state, guard, record, metrics, scheduler } = context;
  const { pods, sources, workers, apply } = state;
  const admit = admission(context);

  const dispatch = (type: PodUpdateType, pod: Pod, cause: JournalId): readonly Wake[] => {
    const resolved = pods.resolve(pod);
    if (!resolved.pod) return [];
    const now = scheduler.now();
    const update = { type, pod: resolved.pod, mirrorPod: resolved.mirrorPod, startedAt: now, causes: [cause] };
    return workers.update(update, now);
  };

  /** The API's version of a pod decides whether its status is written, and whether the pod may be deleted. */
  const objectChanged = (pod: Pod): void => {
    const uid = pods.resolve(pod).pod?.metadata.uid;
    if (uid !== undefined) apply({ kind: 'api-object-changed', uid });
  };

  const handlers: Readonly<Record<PodsUpdate['op'], Handle>> = {
    ADD: (pod, cause, active) => {
      apply({ kind: 'pod-set', pod });
      if (pods.resolve(pod).isMirror) {
        objectChanged(pod);
        return dispatch('update', pod, cause);
      }
      if (isStaticPod(pod)) warnOfPriority(context, pod);
      const stops = admit(pods.resolve(pod).pod ?? pod, active, cause);
      return stops ? [...stops, ...dispatch('create', pod, cause)] : [];
    },
    UPDATE: (pod, cause) => {
      const before = pods.asked(pod.metadata.uid);
      if (before) for (const request of requestedResizes(before, pod)) metrics.resizeRequested(request);
      apply({ kind: 'pod-set', pod });
      objectChanged(pod);
      return dispatch('update', pod, cause);
    },
    // Graceful deletion: the pod stays a desired pod until its worker has stopped it.
    DELETE: (pod, cause) => {
      apply({ kind: 'pod-set', pod });
      objectChanged(pod);
      return dispatch('update', pod, cause);
    },
    REMOVE: (pod, cause) => {
      const { isMirror } = pods.resolve(pod);
      apply({ kind: 'pod-removed', pod });
      objectChanged(pod);
      if (isMirror) return dispatch('update', pod, cause);
      // A kubelet waits here until every source is ready. But only the source that named a pod removes it.
      const now = scheduler.now();
      return workers.update({ type: 'kill', pod, startedAt: now, causes: [cause] }, now);
    },
    // The API has another status. It needs a sync only if Ready depends on conditions of other writers.
    RECONCILE: (pod, cause) => {
      apply({ kind: 'pod-set', pod });
      objectChanged(pod);
      const { pod: resolved } = pods.resolve(pod);
      return resolved && isReadinessOutdated(resolved) ? dispatch('sync', pod, cause) : [];
    },
    // A container may wait for the object, and volumes may show it. A rejected pod has no worker.
    REFRESH: (pod, cause) => (state.workers.record(pod.metadata.uid) ? dispatch('sync', pod, cause) : []),
  };

  const handle = handleProblem(context);

  return (update) => {
    if (update.kind === 'problem') {
      handle(update);
      return [];
    }
    if (update.kind === 'objects') {
      context.setObjects?.(update.source, update.objects);
      return [];
    }
    const { op, source, pods: changed, isPartial } = update;
    const inOrder = op === 'ADD' ? changed.toSorted(byCreation) : changed;
    const active = activeBeside(state);
    const wakes = inOrder.flatMap((pod) => {
      const handled = guard(podRef(pod), () => {
        const cause = record({ kind: 'config', source, op, ...graceOf(op, pod), pod: podRef(pod), causes: [] });
        if (source === 'api' && op !== 'REMOVE') measureStart(context, pod);
        return handlers[op](pod, cause, active);
      });
      active.handled(pod);
      return handled;
    });
    // A part of a set does not show which pods the source does not want.
    if (isPartial) return wakes;
    if (sources.missing.includes(source)) record({ kind: 'source-heard', source, causes: [] });
    apply({ kind: 'source-ready', source });
    return wakes;
  };
};

/** The grace period of a deleted pod, for the journal. */
const graceOf = (op: PodsUpdate['op'], { metadata }: Pod): { readonly graceSeconds?: number } =>
  op === 'DELETE' && metadata.deletionGracePeriodSeconds !== undefined
    ? { graceSeconds: metadata.deletionGracePeriodSeconds }
    : {};

/** As a kubelet 1.37: the names of classes are resolved by the API server alone. */
const warnOfPriority = ({ log }: LoopContext, pod: Pod): void => {
  for (const { path, message, expected } of priorityWarnings(pod)) {
    const field = formatFieldPath(path);
    log.warn({ pod: formatPod(pod.metadata), field, expected }, `the ${field} of a static pod ${message}`);
  }
};

const measureStart = ({ podStarts, metrics, wallClock }: LoopContext, pod: Pod): void => {
  const start = podStarts?.watched(pod, wallClock());
  if (!start) return;
  metrics.podStartObserved(start.total);
  if (start.withoutPulls === undefined) return;
  metrics.podStartWithoutPulls(start.withoutPulls);
  if (start.isFirstWithNetwork) metrics.firstNetworkPodStart(start.withoutPulls);
};
