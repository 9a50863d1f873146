import { decideAdmission, type Admission } from '../../model/admission/decide-admission.js';
import { PREEMPTED_MESSAGE, preemptedStatus, PREEMPTING } from '../../model/admission/preempted-status.js';
import type { Rejection } from '../../model/admission/rejection.js';
import type { JournalId } from '../../model/journal/journal.js';
import { formatPod, isStaticPod, isTerminalPhase, type Pod, podRef } from '../../model/pod/pod.js';
import { rejectedPodStatus } from '../../model/pod-status/rejected-pod-status.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import type { ActiveBeside } from './active-beside.js';
import { handleKill } from './handle-kill.js';
import type { LoopContext } from './loop-context.js';

/** Returns the wakes of the workers of pods that are stopped to make room for this one; undefined if the node rejects it. */
export type AdmitPod = (pod: Pod, active: ActiveBeside, cause: JournalId) => readonly Wake[] | undefined;

/** Admits or rejects pods. One that has ended or is stopping is not checked again. */
export const admission =
  (context: LoopContext): AdmitPod =>
  (pod, active, cause) => {
    const { admit, state } = context;
    const { uid } = pod.metadata;
    if (state.workers.isTerminationRequested(uid) || isTerminalPhase(pod.status?.phase)) return [];
    const { victims } = state.value.preemptions;
    const decided = decideAdmission(pod, active.beside(pod), { admit, isPreempted: (other) => victims.has(other) });
    state.apply({ kind: 'admission-decided', uid, isAdmitted: decided.kind === 'admitted' });
    if (decided.kind === 'admitted') return madeRoom(context, pod, decided, cause);
    reject(context, pod, decided.rejection, cause);
    return undefined;
  };

const reject = (context: LoopContext, pod: Pod, rejection: Rejection, cause: JournalId): void => {
  const { state, metrics, record, recordEvent, wallClock } = context;
  const { reason, message, detail } = rejection;
  metrics.admissionRejected(reason);
  const decision = record({ kind: 'admission-rejected', reason, message, detail, pod: podRef(pod), causes: [cause] });
  recordEvent({ pod, type: 'Warning', reason, message, causes: [decision] });
  state.apply({ kind: 'status', uid: pod.metadata.uid, status: rejectedPodStatus(pod, rejection, wallClock()) });
};

/** Notes what an admitted pod waits for, and stops the pods that were chosen for it. */
export const madeRoom = (
  context: LoopContext,
  pod: Pod,
  { waitsFor, preemption }: Extract<Admission, { readonly kind: 'admitted' }>,
  cause: JournalId,
): readonly Wake[] => {
  if (waitsFor.length === 0) return [];
  const { state, metrics, record, recordEvent, log, scheduler, wallClock } = context;
  const { victims = [], resource = '', missing } = preemption ?? {};
  const { uid } = pod.metadata;
  const decision = record({
    ...{ kind: 'room-awaited', pods: waitsFor.map(podRef), pod: podRef(pod), causes: [cause] },
    ...(missing !== undefined && { missing }),
  });
  const chosen = victims.map((victim) => victim.metadata.uid);
  state.apply({ kind: 'room-awaited', uid, victims: chosen, pods: waitsFor, since: scheduler.now() });
  const kill = handleKill(context);
  return victims.flatMap((victim) => {
    const reason = `it makes room for the critical pod ${formatPod(pod)}, for which the node lacks ${missing ?? ''}`;
    log.warn(
      { pod: formatPod(victim), for: formatPod(pod), missing },
      'stopping a pod to make room for a critical one',
    );
    const request = record({ kind: 'kill-requested', reason, pod: podRef(victim), causes: [decision] });
    recordEvent({ pod: victim, type: 'Warning', reason: PREEMPTING, message: PREEMPTED_MESSAGE, causes: [request] });
    metrics.podPreempted(resource);
    const statusOverride = preemptedStatus(victim, wallClock());
    // The worker of a static pod that it has not begun to run has nothing to end, and makes no status of it.
    if (isStaticPod(victim) && state.workers.record(victim.metadata.uid)?.startedAt === undefined)
      state.apply({ kind: 'status', uid: victim.metadata.uid, status: statusOverride(victim.status ?? {}) });
    return kill({ pod: victim, kill: { statusOverride }, reason, cause: request });
  });
};
