import { isHugePages } from '../node/node-resources.js';
import type { Pod } from '../pod/pod.js';
import { podAmountsWithOverhead, type ResourceAmounts } from '../resources/pod-resources.js';
import { type Nanos, quantity } from '../resources/quantity.js';

/** A resource of which a pod requests more than the other pods leave. */
export interface MissingResource {
  readonly resource: string;
  readonly requested: Nanos;
  /** By the other pods. */
  readonly used: Nanos;
  readonly capacity: Nanos;
}

/** Of each pod one is taken. */
export const PODS = 'pods';

/** The first resources to check; the others follow in the order of the pod. */
const FIRST = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * Returns the resources of which a pod requests more than the other pods leave. Resources that the node does not report are not checked,
 * except huge pages: a size that is not reported is not available.
 *
 * Source: pkg/scheduler/framework/plugins/noderesources/fit.go fitsRequest, pkg/kubelet/lifecycle/predicate.go
 */
export const missingResources = (
  pod: Pod,
  others: readonly Pod[],
  allocatable: Readonly<Record<string, string>>,
): readonly MissingResource[] => {
  const requested = [...requestsOf(pod).keys()].filter((name) => name !== PODS && !FIRST.includes(name));
  return [PODS, ...FIRST, ...requested].flatMap((resource) => {
    const stated = allocatable[resource] ?? (isHugePages(resource) ? '0' : undefined);
    const amount = requestOf(pod, resource);
    if (stated === undefined || amount <= 0n) return [];
    const used = others.reduce((sum, other) => sum + requestOf(other, resource), 0n);
    const capacity = quantity(stated);
    return amount > capacity - used ? [{ resource, requested: amount, used, capacity }] : [];
  });
};

/** What a pod requests of a resource, with the overhead of its sandbox. */
export const requestOf = (pod: Pod, resource: string): Nanos =>
  resource === PODS ? ONE : (requestsOf(pod).get(resource) ?? 0n);

const ONE = quantity('1');

/** Pods never change, and each is added up for every resource of every pod that comes after it. */
const known = new WeakMap<Pod, ResourceAmounts>();

const requestsOf = (pod: Pod): ResourceAmounts => {
  const before = known.get(pod);
  if (before) return before;
  const requests = podAmountsWithOverhead(pod, 'requests');
  known.set(pod, requests);
  return requests;
};
