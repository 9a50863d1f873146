import type { Pod } from '../pod/pod.js';
import { isHugePages } from '../node/node-resources.js';
import { podAmountsWithOverhead, type ResourceAmounts } from '../resources/pod-resources.js';
import { milliValue, type Nanos, quantity, unitValue } from '../resources/quantity.js';
import type { Rejection } from './rejection.js';

/** The first resources to check; the others follow in the order of the pod. */
const FIRST = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * Rejects a pod that requests more of a resource than the other pods leave, `OutOf<resource>`. Resources that the node
 * does not report are not checked, except huge pages: a size that is not reported is not available.
 *
 * Source: pkg/scheduler/framework/plugins/noderesources/fit.go fitsRequest, pkg/kubelet/lifecycle/predicate.go
 */
export const resourceRejection = (
  pod: Pod,
  others: readonly Pod[],
  allocatable: Readonly<Record<string, string>>,
): Rejection | undefined => {
  const pods = allocatable.pods === undefined ? Infinity : Number(unitValue(quantity(allocatable.pods)));
  if (others.length + 1 > pods) return outOf('pods', 1, others.length, pods);
  const requests = requestsOf(pod);
  const names = [...FIRST, ...[...requests.keys()].filter((name) => !FIRST.includes(name) && name !== 'pods')];
  for (const name of names) {
    const [requested, stated] = [requests.get(name) ?? 0n, allocatable[name] ?? (isHugePages(name) ? '0' : undefined)];
    if (requested <= 0n || stated === undefined) continue;
    const used = others.reduce((sum, other) => sum + (requestsOf(other).get(name) ?? 0n), 0n);
    const capacity = quantity(stated);
    if (requested > capacity - used) return outOf(name, ...[requested, used, capacity].map(inUnitsOf(name)));
  }
  return undefined;
};

/** Pods never change, and each is added up for every resource of every pod that comes after it. */
const known = new WeakMap<Pod, ResourceAmounts>();

const requestsOf = (pod: Pod): ResourceAmounts => {
  const before = known.get(pod);
  if (before) return before;
  const requests = podAmountsWithOverhead(pod, 'requests');
  known.set(pod, requests);
  return requests;
};

type Amount = bigint | number;

const inUnitsOf =
  (name: string) =>
  (amount: Nanos): Amount =>
    name === 'cpu' ? milliValue(amount) : unitValue(amount);

const outOf = (resource: string, ...[requested, used, capacity]: readonly Amount[]): Rejection => ({
  reason: `OutOf${resource}`,
  message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
});
