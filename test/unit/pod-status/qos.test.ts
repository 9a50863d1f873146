import { describe, expect, it } from 'vitest';
import type { Container, PodSpec } from '../../../src/model/pod/pod.js';
import { computeQosClass, qosClass } from '../../../src/model/pod-status/qos.js';
import { aContainer, aPod } from '../pods.js';

const both = { cpu: '500m', memory: '1Gi' };
const needs = (requests?: Record<string, string>, limits?: Record<string, string>): Partial<Container> => ({
  resources: { requests, limits },
});
const a = (fields: Partial<Container>) => aContainer('a', fields);
const b = (fields: Partial<Container>) => aContainer('b', fields);

describe('computeQosClass', () => {
  it.each<[row: string, spec: Partial<PodSpec>, expected: string]>([
    ['nothing asked for', { containers: [a({})] }, 'BestEffort'],
    ['only zeros', { containers: [a(needs({ cpu: '0' }, { memory: '0' }))] }, 'BestEffort'],
    ['only another resource', { containers: [a(needs({ 'ephemeral-storage': '1Gi' }))] }, 'BestEffort'],
    ['requests alone', { containers: [a(needs(both))] }, 'Burstable'],
    ['limits alone, without the defaulted requests', { containers: [a(needs(undefined, both))] }, 'Burstable'],
    ['requests equal to limits', { containers: [a(needs(both, both))] }, 'Guaranteed'],
    [
      'equal though written differently',
      { containers: [a(needs(both, { cpu: '0.5', memory: '1024Mi' }))] },
      'Guaranteed',
    ],
    ['requests below limits', { containers: [a(needs({ ...both, cpu: '100m' }, both))] }, 'Burstable'],
    ['no memory limit', { containers: [a(needs({ cpu: '1' }, { cpu: '1' }))] }, 'Burstable'],
    ['one container without limits', { containers: [a(needs(both, both)), b({})] }, 'Burstable'],
    ['an init container without limits', { containers: [a(needs(both, both))], initContainers: [b({})] }, 'Burstable'],
    [
      'an init container with them',
      { containers: [a(needs(both, both))], initContainers: [b(needs(both, both))] },
      'Guaranteed',
    ],
    ['empty resources of the pod itself', { containers: [a(needs(both, both))], resources: {} }, 'Guaranteed'],
    [
      'resources of the pod itself without an amount',
      { containers: [a(needs(both))], resources: { requests: {}, limits: {} } },
      'Burstable',
    ],
    ['resources of the pod itself', { containers: [a({})], resources: { requests: both, limits: both } }, 'Guaranteed'],
    [
      'resources of the pod itself, though its containers have more',
      { containers: [a(needs(both, both))], resources: { requests: { cpu: '1' } } },
      'Burstable',
    ],
    [
      'an ephemeral container, which does not count',
      { containers: [a({})], ephemeralContainers: [b(needs(both))] },
      'BestEffort',
    ],
  ])('%s: %s', (_, spec, expected) => {
    expect(computeQosClass(aPod(spec))).toBe(expected);
  });
});

it('keeps the class that the status has', () => {
  expect(qosClass({ ...aPod(), status: { qosClass: 'Guaranteed' } })).toBe('Guaranteed');
  expect(qosClass(aPod())).toBe('BestEffort');
});
