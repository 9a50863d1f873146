import { decideResize, type ResizedPod } from '../../model/resize/decide-resize.js';
import type { PendingResize } from '../../model/resize/pod-resizes.js';
import { resizeText } from '../../model/resize/resize-conditions.js';
import { inResizeOrder, type QueuedResize } from '../../model/resize/resize-order.js';
import { isTerminalPhase, podRef } from '../../model/pod/pod.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import type { ResizeTrigger } from '../resize/resize-triggers.js';
import { activePods, isActive } from './active-pods.js';
import { madeRoom } from './admission.js';
import type { LoopContext } from './loop-context.js';

/**
 * Tries all resizes that wait, in their order: each gets what it asks for if the node has room beside what the others were allocated. Until
 * every source has named its pods nothing is tried, since the room of the others is not known.
 *
 * Source: pkg/kubelet/allocation/allocation_manager.go retryPendingResizes
 */
export const handleResize =
  (context: LoopContext) =>
  (trigger: ResizeTrigger): readonly Wake[] => {
    if (!context.state.sources.all) return [];
    return inResizeOrder(waiting(context)).flatMap((resize) =>
      context.guard(podRef(resize.asked), () => tried(context, resize, trigger)),
    );
  };

/** What is infeasible is not tried again until its pod changes. */
const waiting = ({ state }: LoopContext): readonly QueuedResize[] =>
  state.pods.resized().flatMap((uid) => {
    const [asked, has, status] = [state.pods.asked(uid), state.pods.get(uid), state.statuses.get(uid)];
    if (!asked || !has || !isActive(state, has) || isTerminalPhase(status?.phase)) return [];
    if (state.workers.isTerminationRequested(uid)) return [];
    const known = state.value.resizes.pending.get(uid);
    const isRefused = known?.reason === 'Infeasible' && known.generation === asked.metadata.generation;
    return isRefused ? [] : [{ asked, has, status: status ?? asked.status }];
  });

const tried = (context: LoopContext, resized: ResizedPod, trigger: ResizeTrigger): readonly Wake[] => {
  const { state, admit, node, metrics, record, recordEvent, wallClock } = context;
  const { asked } = resized;
  const { uid, generation } = asked.metadata;
  const pod = podRef(asked);
  const others = activePods(state).filter((other) => other.metadata.uid !== uid);
  const { victims } = state.value.preemptions;
  const before = state.value.resizes.pending.get(uid);
  const decision = decideResize(resized, others, {
    ...{ admit, isPreempted: (other) => victims.has(other) },
    resizesPods: node.resizesPods ?? true,
    swap: node,
  });
  if (decision.kind === 'pending') {
    const { reason, message, detail } = decision;
    const pending: PendingResize = { reason, message, generation, triedAt: wallClock() };
    state.apply({ kind: 'resize-pending', uid, pending });
    if (before?.reason === reason && before.message === message && before.generation === generation) return [];
    if (detail !== undefined) metrics.resizeInfeasible(detail);
    const word = reason === 'Deferred' ? 'deferred' : 'infeasible';
    return synced(context, uid, record({ kind: 'resize', trigger, decision: word, message, pod, causes: [] }));
  }
  if (before?.reason === 'Deferred') metrics.deferredResizeAccepted(trigger);
  const cause = record({ kind: 'resize', trigger, decision: 'allocated', pod, causes: [] });
  state.apply({ kind: 'resize-allocated', uid });
  const message = resizeText('started', asked, generation);
  recordEvent({ pod: asked, type: 'Normal', reason: 'ResizeStarted', message, causes: [cause] });
  return [...madeRoom(context, asked, decision.admission, cause), ...synced(context, uid, cause)];
};

const synced = ({ state, scheduler }: LoopContext, uid: string, cause: string): readonly Wake[] => {
  const pod = state.pods.get(uid);
  if (!pod) return [];
  const now = scheduler.now();
  const { mirrorPod } = state.pods.resolve(pod);
  return state.workers.update({ type: 'sync', pod, mirrorPod, startedAt: now, causes: [cause] }, now);
};
