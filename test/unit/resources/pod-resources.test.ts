import { describe, expect, it } from 'vitest';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import {
  podAmounts,
  podAmountsWithOverhead,
  type ResourceAmounts,
} from '../../../src/model/resources/pod-resources.js';
import { milliValue } from '../../../src/model/resources/quantity.js';
import { aContainer, aPod } from '../pods.js';

const needs = (name: string, cpu: string, fields = {}) =>
  aContainer(name, { resources: { requests: { cpu }, limits: { cpu } }, ...fields });
const side = { restartPolicy: 'Always' };
const milliCpu = (amounts: ResourceAmounts) => milliValue(amounts.get('cpu') ?? 0n);

describe('podAmounts', () => {
  it.each<[row: string, spec: Partial<PodSpec>, milliCpu: number]>([
    ['nothing', { containers: [aContainer('a')] }, 0],
    ['regular containers run side by side', { containers: [needs('a', '1'), needs('b', '500m')] }, 1500],
    [
      'init containers run alone: the largest counts if it is larger',
      { containers: [needs('a', '1')], initContainers: [needs('i', '3'), needs('j', '2')] },
      3000,
    ],
    ['and not if it is smaller', { containers: [needs('a', '1')], initContainers: [needs('i', '500m')] }, 1000],
    [
      'sidecars run beside regular ones',
      { containers: [needs('a', '1')], initContainers: [needs('s', '500m', side)] },
      1500,
    ],
    [
      'and beside init containers after them, not before them',
      {
        containers: [needs('a', '1')],
        initContainers: [needs('i', '2'), needs('s', '500m', side), needs('j', '1900m')],
      },
      2400,
    ],
    [
      'what the pod itself says replaces the sum',
      { containers: [needs('a', '1')], resources: { requests: { cpu: '5' } } },
      5000,
    ],
  ])('%s', (_, spec, expected) => {
    expect(milliCpu(podAmounts(aPod(spec), 'requests'))).toBe(expected);
  });
});

it('adds overhead to requests, and to limits that there are', () => {
  const overhead = { cpu: '250m', memory: '64Mi' };
  const pod = aPod({ containers: [needs('a', '1')], overhead });
  expect(milliCpu(podAmountsWithOverhead(pod, 'requests'))).toBe(1250);
  expect(podAmountsWithOverhead(pod, 'requests').has('memory')).toBe(true);
  expect(milliCpu(podAmountsWithOverhead(pod, 'limits'))).toBe(1250);
  expect(podAmountsWithOverhead(pod, 'limits').has('memory')).toBe(false);
});
