import { describe, expect, it } from 'vitest';
import type { CgroupResources } from '../../../src/model/cgroups/cgroup-resources.js';
import { keptForPods, type MemoryQos, podMemoryResources } from '../../../src/model/cgroups/memory-qos.js';
import { containerLinuxResources } from '../../../src/model/cri/linux-resources.js';
import type { Container, Pod, PodSpec } from '../../../src/model/pod/pod.js';
import { aContainer, aNode, aPod } from '../pods.js';

const MIB = 1n << 20n;
const throttling = { factor: 0.9, nodeMemory: 1000n * MIB, pageSize: 4096n };
const KEEPS: MemoryQos = { keepsRequests: true };
const THROTTLES: MemoryQos = { keepsRequests: false, throttling };
const BOTH: MemoryQos = { keepsRequests: true, throttling };

const asks = (request?: string, limit?: string, cpu?: string): Container['resources'] => ({
  ...((request !== undefined || cpu) && { requests: { ...(request && { memory: request }), ...(cpu && { cpu }) } }),
  ...((limit !== undefined || cpu) && { limits: { ...(limit && { memory: limit }), ...(cpu && { cpu }) } }),
});
const GUARANTEED = asks('100Mi', '100Mi', '1');
const podOf = (resources: Container['resources'], spec: Partial<PodSpec> = {}): Pod =>
  aPod({ containers: [aContainer('web', { resources })], ...spec });

describe('the memory of a container', () => {
  const filesOf = (resources: Container['resources'], memoryQos: MemoryQos | undefined, isUpdate = false) =>
    containerLinuxResources(
      podOf(resources),
      aContainer('web', { resources }),
      aNode({ ...(memoryQos && { memoryQos }) }),
      { isUpdate },
    ).unified;
  const [MIN, LOW, HIGH] = ['memory.min', 'memory.low', 'memory.high'];
  const bytes = (mebibytes: bigint) => String(mebibytes * MIB);

  it.each<[row: string, Container['resources'], MemoryQos | undefined, files: object | undefined]>([
    ['is left to the kernel under cgroup v1', asks('100Mi', '200Mi'), undefined, undefined],
    [
      'is left to the kernel unless it is kept or throttled',
      asks('100Mi', '200Mi'),
      { keepsRequests: false },
      undefined,
    ],
    ['is kept always for a Guaranteed pod', GUARANTEED, KEEPS, { [MIN]: bytes(100n) }],
    ['is kept as long as possible for a Burstable pod', asks('100Mi', '200Mi'), KEEPS, { [LOW]: bytes(100n) }],
    ['is not kept without a request', asks(undefined, undefined, '1'), KEEPS, undefined],
    ['is throttled between request and limit', asks('100Mi', '200Mi'), THROTTLES, { [HIGH]: bytes(190n) }],
    ['is throttled below the memory for pods without a limit', asks('100Mi'), THROTTLES, { [HIGH]: bytes(910n) }],
    ['is throttled also without a request', asks(undefined, undefined), THROTTLES, { [HIGH]: bytes(900n) }],
    ['is not throttled where request and limit are the same', GUARANTEED, THROTTLES, undefined],
    ['is throttled in whole pages', asks('1', '10000'), THROTTLES, { [HIGH]: '8192' }],
    ['is not throttled below its request', asks('4097', '4500'), THROTTLES, undefined],
    ['is kept and throttled', asks('100Mi', '200Mi'), BOTH, { [LOW]: bytes(100n), [HIGH]: bytes(190n) }],
  ])('%s', (_, resources, qos, files) => {
    expect(filesOf(resources, qos)).toEqual(files);
  });

  it('is no longer kept and throttled once a resize finds other settings', () => {
    const none = { [MIN]: '0', [LOW]: '0', [HIGH]: 'max' };
    expect(filesOf(asks('100Mi', '200Mi'), { keepsRequests: false }, true)).toEqual(none);
    expect(filesOf(asks('100Mi', '200Mi'), KEEPS, true)).toEqual({ ...none, [LOW]: bytes(100n) });
    expect(filesOf(asks('100Mi', '200Mi'), undefined, true)).toBeUndefined();
  });
});

describe('the memory of a pod', () => {
  const resources = (memoryMin: bigint, memoryLow: bigint, memoryHigh = -1n): CgroupResources => ({
    ...{ memoryMin, memoryLow, memoryHigh },
  });
  const asWhole = { resources: { requests: { memory: '300Mi' }, limits: { memory: '400Mi' } } };

  it.each<[row: string, Pod, MemoryQos | undefined, CgroupResources]>([
    ['is left to the kernel', podOf(GUARANTEED), { keepsRequests: false }, {}],
    ['is left to the kernel under cgroup v1', podOf(GUARANTEED), undefined, {}],
    ['is kept for a Guaranteed pod', podOf(GUARANTEED), KEEPS, resources(100n * MIB, 0n)],
    ['is kept for a Burstable pod', podOf(asks('100Mi')), KEEPS, resources(0n, 100n * MIB)],
    [
      'is kept with that of the sandbox',
      podOf(asks('100Mi'), { overhead: { memory: '20Mi' } }),
      KEEPS,
      resources(0n, 120n * MIB),
    ],
    [
      'is not throttled as a whole if only its containers have amounts',
      podOf(asks('1Mi')),
      THROTTLES,
      resources(0n, 0n),
    ],
    ['is throttled as a whole if it has amounts', podOf({}, asWhole), THROTTLES, resources(0n, 0n, 390n * MIB)],
  ])('%s', (_, pod, qos, expected) => {
    expect(podMemoryResources(pod, qos)).toEqual(expected);
  });

  it('adds up: all that is kept, and the part of Burstable pods', () => {
    const pods = [podOf(GUARANTEED), podOf(asks('64Mi')), podOf(asks('36Mi')), podOf({})];
    expect(keptForPods(pods)).toEqual({
      all: { memoryMin: 200n * MIB, memoryLow: 100n * MIB },
      burstable: { memoryLow: 100n * MIB },
    });
  });
});
