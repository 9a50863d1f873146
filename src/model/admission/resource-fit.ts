import type { Pod } from '../pod/pod.js';
import { milliValue, type Nanos, unitValue } from '../resources/quantity.js';
import { missingResources } from './missing-resources.js';
import type { Rejection } from './rejection.js';

/**
 * Rejects a pod that requests more of a resource than the other pods leave, `OutOf<resource>`. It names the first such resource, and lists
 * all of them.
 *
 * Source: pkg/kubelet/lifecycle/predicate.go
 */
export const resourceRejection = (
  pod: Pod,
  others: readonly Pod[],
  allocatable: Readonly<Record<string, string>>,
): Rejection | undefined => {
  const missing = missingResources(pod, others, allocatable);
  const [first] = missing;
  if (!first) return undefined;
  const { resource } = first;
  const [requested, used, capacity] = [first.requested, first.used, first.capacity].map(inUnitsOf(resource));
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
    missing,
  };
};

/** The amount in whole units, but thousandths of a CPU. */
export const inUnitsOf =
  (resource: string) =>
  (amount: Nanos): bigint | number =>
    resource === 'cpu' ? milliValue(amount) : unitValue(amount);
