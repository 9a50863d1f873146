import { isCriticalPod, type Pod } from '../pod/pod.js';
import { podsToPreempt, type Shortfall, shortfallOf } from './pods-to-preempt.js';
import type { Admit, Rejection } from './rejection.js';
import { inUnitsOf } from './resource-fit.js';

/** Whether the node takes a pod. */
export type Admission =
  | { readonly kind: 'rejected'; readonly rejection: Rejection }
  | {
      readonly kind: 'admitted';
      /** The pods that are being stopped to make room, and have to have stopped before the pod starts; often none. */
      readonly waitsFor: readonly Pod[];
      /** Those of them that are stopped for this pod; often absent. */
      readonly preemption?: Preemption;
    };

/** The pods that are stopped so that a critical pod has room. */
export interface Preemption {
  readonly victims: readonly Pod[];
  /** The first missing resource. */
  readonly resource: string;
  /** All that is missing, such as `cpu 150m`. */
  readonly missing: string;
}

export interface AdmissionContext {
  readonly admit: Admit;
  /** Whether the pod is being stopped to make room for another one. */
  readonly isPreempted: (uid: string) => boolean;
}

/**
 * Decides whether the node takes a pod. If it lacks room, it may have it once the pods have stopped that are being stopped for an earlier
 * one. If it is critical and lacks nothing but resources, other pods are stopped for it.
 *
 * A kubelet stops them here, one after the other, and does nothing else meanwhile.
 *
 * Source: pkg/kubelet/preemption/preemption.go HandleAdmissionFailure
 */
export const decideAdmission = (
  pod: Pod,
  active: readonly Pod[],
  { admit, isPreempted }: AdmissionContext,
): Admission => {
  const atOnce = admit(pod, active);
  if (!atOnce) return { kind: 'admitted', waitsFor: [] };
  const ending = active.filter(({ metadata }) => isPreempted(metadata.uid));
  const staying = active.filter((other) => !ending.includes(other));
  const rejection = ending.length > 0 ? admit(pod, staying) : atOnce;
  if (!rejection) return { kind: 'admitted', waitsFor: ending };
  const { missing = [] } = rejection;
  const [first] = missing;
  if (!first || !isCriticalPod(pod)) return { kind: 'rejected', rejection };
  const shortfall = shortfallOf(missing);
  const { victims, lacking } = podsToPreempt(pod, staying, shortfall);
  if (lacking.size > 0) return { kind: 'rejected', rejection: nothingToPreempt(lacking, rejection) };
  const preemption = { victims, resource: first.resource, missing: inWords(shortfall) };
  return { kind: 'admitted', waitsFor: [...ending, ...victims], preemption };
};

const inWords = (shortfall: Shortfall): string =>
  amountsOf(shortfall)
    .map(({ resource, amount }) => `${resource} ${amount}${resource === 'cpu' ? 'm' : ''}`)
    .join(', ');

/** Source: pkg/kubelet/preemption/preemption.go getPodsToPreempt, pkg/kubelet/lifecycle/predicate.go */
const nothingToPreempt = (lacking: Shortfall, { message }: Rejection): Rejection => {
  const list = amountsOf(lacking).map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `);
  return {
    reason: 'UnexpectedAdmissionError',
    message: `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${list.join('')}]`,
    detail: message,
  };
};

const amountsOf = (shortfall: Shortfall) =>
  [...shortfall].map(([resource, amount]) => ({ resource, amount: inUnitsOf(resource)(amount) }));
