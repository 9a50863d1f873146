import type { NodeFacts } from '../node/node-facts.js';
import { type Container, isCriticalPod, type Pod } from '../pod/pod.js';
import { qosClass } from '../pod-status/qos.js';
import { amountsOf } from '../resources/pod-resources.js';
import { unitValue } from '../resources/quantity.js';

/** The facts of the node that decide who may use swap. */
export type SwapFacts = Pick<NodeFacts, 'limitsSwap' | 'sharedSwap' | 'memoryCapacity'>;

/**
 * Returns the bytes of swap that a container may use: the part of the node's swap that its request is of the node's memory. Undefined for
 * one that gets none: where swap is not shared, and for critical pods, pods that are not Burstable, and containers that ask for no memory or
 * for exactly their limit.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go GetContainerSwapBehavior, calcSwapForBurstablePods
 */
export const swapShare = (
  pod: Pod,
  container: Pick<Container, 'resources'>,
  { limitsSwap, sharedSwap, memoryCapacity }: SwapFacts,
): bigint | undefined => {
  if (!limitsSwap || sharedSwap === undefined || isCriticalPod(pod) || qosClass(pod) !== 'Burstable') return undefined;
  const [request, limit] = (['requests', 'limits'] as const).map((kind) =>
    unitValue(amountsOf(container, kind).get('memory') ?? 0n),
  );
  if (request === undefined || request === limit || request > memoryCapacity) return undefined;
  return BigInt(Math.trunc((Number(request) / Number(memoryCapacity)) * sharedSwap));
};
