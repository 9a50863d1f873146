import { type Admission, type AdmissionContext, decideAdmission } from '../admission/decide-admission.js';
import { type SwapFacts, swapShare } from '../cri/swap-share.js';
import { allocatedOfPod, hasOtherPodAmounts, isSameAmount } from '../pod/allocated-resources.js';
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
  if (swapsWhatChanges(asked, has, context.swap)) {
    return { kind: 'pending', reason: 'Infeasible', message: NO_SWAP, detail: 'swap_limitation' };
  }
  const admission = decideAdmission(asked, others, context);
  if (admission.kind === 'admitted') return { kind: 'allocated', admission };
  return { kind: 'pending', reason: 'Deferred', message: admission.rejection.message };
};

export interface ResizeContext extends AdmissionContext {
  /** Gate InPlacePodLevelResourcesVerticalScaling: also the amounts of a pod as a whole can be changed. */
  readonly resizesPods: boolean;
  /** Who may use swap. */
  readonly swap: SwapFacts;
}

const NO_POD_LEVEL = 'InPlacePodLevelResourcesVerticalScaling is disabled';

const NO_SWAP = 'In-place resize of containers with swap is not supported.';

/** Whether a container that may swap, or would then, asks for another amount of memory without a restart. */
const swapsWhatChanges = (asked: Pod, has: Pod, swap: SwapFacts): boolean =>
  asked.spec.containers.some((container) => {
    const before = has.spec.containers.find(({ name }) => name === container.name);
    if (!before || isSameAmount(container.resources?.requests?.memory, before.resources?.requests?.memory))
      return false;
    const policy = before.resizePolicy?.find(({ resourceName }) => resourceName === 'memory');
    if (policy?.restartPolicy === 'RestartContainer') return false;
    return swapShare(asked, container, swap) !== undefined || swapShare(has, before, swap) !== undefined;
  });

/** A pod whose source asks for other amounts than it has. */
export interface ResizedPod {
  readonly asked: Pod;
  /** The pod with the amounts on which the agent acts. */
  readonly has: Pod;
}
