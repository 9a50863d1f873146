import type { Pod } from '../pod.js';
import { isHugePages } from '../node/node-resources.js';
import { podAmountsWithOverhead } from '../pod-resources.js';
import { milliValue, type Nanos, quantity, unitValue } from '../quantity.js';
import type { Rejection } from './rejection.js';

/** The first to be looked at; all others follow in the order of the pod. */
const FIRST = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * Rejects a pod that asks for more than others leave of the node, `OutOf<resource>`. Resources that the node does not state
 * are not looked at, but for huge pages: of a size that it does not have there are none.
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
  const requests = podAmountsWithOverhead(pod, 'requests');
  const names = [...FIRST, ...[...requests.keys()].filter((name) => !FIRST.includes(name) && name !== 'pods')];
  for (const name of names) {
    const [requested, stated] = [requests.get(name) ?? 0n, allocatable[name] ?? (isHugePages(name) ? '0' : undefined)];
    if (requested <= 0n || stated === undefined) continue;
    const used = others.reduce((sum, other) => sum + (podAmountsWithOverhead(other, 'requests').get(name) ?? 0n), 0n);
    const capacity = quantity(stated);
    if (requested > capacity - used) return outOf(name, ...[requested, used, capacity].map(inUnitsOf(name)));
  }
  return undefined;
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
