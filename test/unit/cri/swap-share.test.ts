import { describe, expect, it } from 'vitest';
import { containerLinuxResources } from '../../../src/model/cri/linux-resources.js';
import { swapShare } from '../../../src/model/cri/swap-share.js';
import type { Container, PodSpec } from '../../../src/model/pod/pod.js';
import { aContainer, aNode, aPod } from '../pods.js';

const GIB = 1n << 30n;
const node = aNode({ limitsSwap: true, sharedSwap: 4 * 2 ** 30, memoryCapacity: 8n * GIB });
const asks = (request?: string, limit?: string): Container['resources'] => ({
  ...(request !== undefined && { requests: { memory: request } }),
  ...(limit !== undefined && { limits: { memory: limit } }),
});

describe('the swap of a container', () => {
  it.each<[row: string, Container['resources'], Partial<PodSpec>, share: bigint | undefined]>([
    ['is the part of its request in the memory of the node', asks('2Gi', '3Gi'), {}, GIB],
    ['is that without a limit, too', asks('1Gi'), {}, GIB / 2n],
    ['is rounded down to bytes', asks('3', '4'), {}, 1n],
    ['is nothing where it asks for exactly its limit', asks('1Gi', '1Gi'), {}, undefined],
    ['is nothing where it asks for no memory', { requests: { cpu: '1' } }, {}, undefined],
    ['is 0 where it has only a limit', asks('0', '1Gi'), {}, 0n],
    ['is nothing where it asks for more than the node has', asks('9Gi'), {}, undefined],
    ['is nothing in a critical pod', asks('1Gi'), { priority: 2_000_000_000 }, undefined],
    [
      'is nothing in a Guaranteed pod',
      { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
      {},
      undefined,
    ],
    ['is nothing in a best-effort pod', {}, {}, undefined],
  ])('%s', (_, resources, spec, share) => {
    const container = aContainer('web', { resources });
    const pod = aPod({ containers: [container], ...spec });
    expect(swapShare(pod, container, node)).toBe(share);
    expect(containerLinuxResources(pod, container, node).unified).toEqual({ 'memory.swap.max': String(share ?? 0n) });
  });

  it('is nothing where swap is not shared, and is not limited without the controller', () => {
    const container = aContainer('web', { resources: asks('2Gi') });
    const pod = aPod({ containers: [container] });
    const unified = (facts: Parameters<typeof aNode>[0]) =>
      containerLinuxResources(pod, container, aNode(facts)).unified;
    expect(unified({ limitsSwap: true })).toEqual({ 'memory.swap.max': '0' });
    expect(unified({ limitsSwap: false, sharedSwap: 2 ** 30 })).toBeUndefined();
  });
});
