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
): boolean =>
  taints
    .filter(({ effect }) => effect === 'NoExecute')
    .every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));

/** Source: staging/src/k8s.io/api/core/v1/toleration.go, without comparisons of numbers: gate TaintTolerationComparisonOperators */
const tolerates = ({ effect, key, operator, value = '' }: Json<V1Toleration>, taint: Taint): boolean => {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (!operator || operator === 'Equal') && value === (taint.value ?? '');
};
