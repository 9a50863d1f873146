import { type Admission, type AdmissionContext, decideAdmission } from '../admission/decide-admission.js';
import { allocatedOfPod, hasOtherPodAmounts } from '../pod/allocated-resources.js';
import type { Pod } from '../pod/pod.js';
import type { PendingResize } from './pod-resizes.js';

/** Whether a resize fits the node. */
export type ResizeDecision =
  | { readonly kind: 'allocated'; readonly admission: Extract<Admission, { readonly kind: 'admitted' }> }
  | ({
      readonly kind: 'pending';
      /** Why it is infeasible, as a label of metrics. */
      readonly detail?: string;
    } & Pick<PendingResize, 'reason' | 'message'>);

/**
 * Decides whether a pod gets what it asks for, beside these other active pods. What the node refuses now waits, for any reason, also if it
 * is larger than the node.
 *
 * Source: pkg/kubelet/allocation/allocation_manager.go canResizePod, pkg/kubelet/allocation/handlers.go
 */
export const decideResize = (
  { asked, has }: ResizedPod,
  others: readonly Pod[],
  context: ResizeContext,
): ResizeDecision => {
  if (!context.resizesPods && hasOtherPodAmounts(asked, allocatedOfPod(has))) {
    return { kind: 'pending', reason: 'Infeasible', message: NO_POD_LEVEL, detail: 'plr_feature_gate_off' };
  }
  const admission = decideAdmission(asked, others, context);
  if (admission.kind === 'admitted') return { kind: 'allocated', admission };
  return { kind: 'pending', reason: 'Deferred', message: admission.rejection.message };
};

export interface ResizeContext extends AdmissionContext {
  /** Gate InPlacePodLevelResourcesVerticalScaling: also the amounts of a pod as a whole can be changed. */
  readonly resizesPods: boolean;
}

const NO_POD_LEVEL = 'InPlacePodLevelResourcesVerticalScaling is disabled';

/** A pod whose source asks for other amounts than it has. */
export interface ResizedPod {
  readonly asked: Pod;
  /** The pod with the amounts on which the agent acts. */
  readonly has: Pod;
}
