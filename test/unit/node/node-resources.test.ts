import { describe, expect, it } from 'vitest';
import type { ResourceList } from '../../../src/model/resources/resource-list.js';
import { allocatableOf, isExtendedResource, machineCapacity } from '../../../src/model/node/node-resources.js';
import type { NodeObjectSettings } from '../../../src/model/node/node-settings.js';
import { aMachine, nodeSettings } from '../../support/node-object.js';

describe('the capacity of a node', () => {
  const capacity = (settings: Partial<NodeObjectSettings> = {}, machine = {}) =>
    machineCapacity({ ...aMachine, ...machine }, { ...nodeSettings, ...settings });

  it('is what the machine has', () => {
    const hugePages = [
      { pageBytes: 2n << 20n, count: 3n },
      { pageBytes: 1n << 30n, count: 0n },
    ];
    expect(capacity({}, { hugePages, memoryBytes: 24_684_096n * 1024n })).toEqual({
      cpu: '4',
      memory: '24684096Ki',
      'hugepages-2Mi': '6Mi',
      'hugepages-1Gi': '0',
      pods: '110',
      'ephemeral-storage': '107374182400',
    });
  });

  it.each([
    [0, 110, '110'],
    [10, 110, '40'],
    [100, 110, '110'],
  ])('has %i pods per core, %i at most: %s', (podsPerCore, maxPods, pods) =>
    expect(capacity({ podsPerCore, maxPods }).pods).toBe(pods),
  );

  it('has no storage where that is not shared out, or not known', () => {
    expect(capacity({ localStorage: false })['ephemeral-storage']).toBeUndefined();
    expect(capacity({}, { storageBytes: undefined })['ephemeral-storage']).toBeUndefined();
  });
});

describe('what pods get of it', () => {
  const whole: ResourceList = { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  it.each<[string, ResourceList, Partial<NodeObjectSettings>, ResourceList]>([
    ['all', whole, {}, whole],
    [
      'all but what is reserved',
      whole,
      { systemReserved: { cpu: '100m', memory: '512Mi' }, kubeReserved: { cpu: '400m', 'ephemeral-storage': '1Gi' } },
      { ...whole, cpu: '3500m', memory: '7680Mi', 'ephemeral-storage': '106300440576' },
    ],
    [
      'all but what evictions keep free',
      whole,
      { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'imagefs.available': '15%' } },
      // 10 % in single precision, as the kubelet has it.
      { ...whole, memory: '8092Mi', 'ephemeral-storage': '96636764k' },
    ],
    [
      'what no threshold keeps free',
      whole,
      { evictionHard: { 'memory.available': '0%', 'nodefs.available': '100%' } },
      whole,
    ],
    ['no less than nothing', { memory: '1Gi' }, { kubeReserved: { memory: '2Gi' } }, { memory: '0' }],
    [
      'no memory that is in huge pages',
      { memory: '8Gi', 'hugepages-2Mi': '1Gi', 'hugepages-1Gi': '2Gi' },
      { systemReserved: { memory: '1Gi' } },
      { memory: '4Gi', 'hugepages-2Mi': '1Gi', 'hugepages-1Gi': '2Gi' },
    ],
    ['what others have stated', { 'a.test/gpu': '2' }, {}, { 'a.test/gpu': '2' }],
  ])('%s', (_, capacity, settings, expected) =>
    expect(allocatableOf(capacity, { ...nodeSettings, ...settings })).toEqual(expected),
  );
});

it.each([
  ['a.test/gpu', true],
  ['cpu', false],
  ['hugepages-2Mi', false],
  ['x.kubernetes.io/y', false],
  ['requests.a.test/gpu', false],
])('%s is an extended resource: %s', (name, is) => expect(isExtendedResource(name)).toBe(is));
