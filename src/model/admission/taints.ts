import type { V1Toleration } from '@kubernetes/client-node';
import type { Taint } from '../node/node.js';
import type { Json, PodSpec } from '../pod/pod.js';

/**
 * Whether the pod tolerates every `NoExecute` taint. The scheduler checks the other effects.
 *
 * Source: pkg/kubelet/lifecycle/predicate.go generalFilter,
 * staging/src/k8s.io/component-helpers/scheduling/corev1/helpers.go
 */
export const toleratesTaints = (
  { tolerations = [] }: Pick<PodSpec, 'tolerations'>,
  taints: readonly Taint[],
): boolean => {
  // A search of the tolerations for each taint would take the product of their numbers.
  const tolerated = new Set(tolerations.flatMap(keyOfToleration));
  return taints
    .filter(({ effect }) => effect === 'NoExecute')
    .every((taint) => keysOfTaint(taint).some((key) => tolerated.has(key)));
};

/** Whether the pod tolerates one taint, of any effect. */
export const toleratesTaint = ({ tolerations = [] }: Pick<PodSpec, 'tolerations'>, taint: Taint): boolean => {
  const tolerated = new Set(tolerations.flatMap(keyOfToleration));
  return keysOfTaint(taint).some((key) => tolerated.has(key));
};

/** Source: staging/src/k8s.io/api/core/v1/toleration.go, without comparisons of numbers: gate TaintTolerationComparisonOperators */
const keyOfToleration = ({ effect, key, operator, value }: Json<V1Toleration>): string | readonly [] => {
  if (operator === 'Exists') return keyOf(effect, key, ANY);
  return !operator || operator === 'Equal' ? keyOf(effect, key, value ?? '') : [];
};

/** The keys of the tolerations that tolerate the taint: one without an effect or a key stands for all of them. */
const keysOfTaint = ({ effect, key, value }: Taint): readonly string[] =>
  [effect, ''].flatMap((anEffect) =>
    [key, ''].flatMap((aKey) => [keyOf(anEffect, aKey, ANY), keyOf(anEffect, aKey, value ?? '')]),
  );

const ANY = null;

const keyOf = (effect: string | undefined, key: string | undefined, value: string | null): string =>
  JSON.stringify([effect || '', key || '', value]);
