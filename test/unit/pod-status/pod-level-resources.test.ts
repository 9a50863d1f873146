import { describe, expect, it } from 'vitest';
import { podLevelResources } from '../../../src/model/pod-status/pod-level-resources.js';
import type { PodSpec, PodStatus } from '../../../src/model/pod/pod.js';
import { aContainer, aPod } from '../pods.js';

const asks = (name: string, requests: Record<string, string>, limits?: Record<string, string>) =>
  aContainer(name, { resources: { requests, ...(limits && { limits }) } });
const two = [asks('a', { cpu: '250m', memory: '1Gi' }, { memory: '1Gi' }), asks('b', { cpu: '1', memory: '512Mi' })];
const ofPod = (spec: Partial<PodSpec>, status?: PodStatus) => ({ ...aPod(spec), ...(status && { status }) });

describe('the resources of a pod as a whole', () => {
  it.each<[row: string, spec: Partial<PodSpec>, expected: object]>([
    ['nothing: an empty object, and nothing allocated', { containers: [aContainer('a')] }, { resources: {} }],
    [
      'what its containers have together',
      { containers: two },
      {
        resources: { requests: { cpu: '1250m', memory: '1536Mi' }, limits: { memory: '1Gi' } },
        allocatedResources: { cpu: '1250m', memory: '1536Mi' },
      },
    ],
    [
      'its own instead, and its overhead',
      {
        containers: two,
        resources: { requests: { cpu: '2' }, limits: { cpu: '4' } },
        overhead: { cpu: '100m', memory: '1Mi' },
      },
      {
        resources: { requests: { cpu: '2100m', memory: '1537Mi' }, limits: { cpu: '4100m', memory: '1025Mi' } },
        allocatedResources: { cpu: '2100m', memory: '1537Mi' },
      },
    ],
    [
      'the peak of its init containers',
      { containers: [asks('a', { cpu: '1' })], initContainers: [asks('i', { cpu: '3' })] },
      { resources: { requests: { cpu: '3' } }, allocatedResources: { cpu: '3' } },
    ],
  ])('has %s', (_, spec, expected) => {
    expect(podLevelResources(ofPod(spec), undefined, undefined)).toEqual(expected);
  });

  const running: PodStatus = { phase: 'Running' };
  const cgroup = { cpuShares: 256, cpuQuota: 50_000, cpuPeriod: 100_000, memory: 1n << 30n };

  it('are those of its cgroup while the API shows it as Running', () => {
    const { resources } = podLevelResources(ofPod({ containers: two }, running), undefined, cgroup);
    expect(resources).toEqual({
      requests: { cpu: '250m', memory: '1536Mi' },
      limits: { cpu: '500m', memory: '1Gi' },
    });
  });

  it('have the request of memory that the pod has, also if its former status or its next amounts have another', () => {
    const of = (memory: string) => ofPod({ containers: [asks('a', { cpu: '250m', memory })] }, running);
    const before = { phase: 'Running', resources: { requests: { memory: '1Gi' } } };
    const { resources, allocatedResources } = podLevelResources(of('3Gi'), before, cgroup, of('2Gi'));
    expect([resources?.requests?.memory, allocatedResources?.memory]).toEqual(['2Gi', '3Gi']);
  });

  it('keep the value of the spec below what a cgroup can express', () => {
    const spec = { containers: two, resources: { requests: { cpu: '1m' }, limits: { cpu: '5m' } } };
    const small = { cpuShares: 2, cpuQuota: 1_000, cpuPeriod: 100_000 };
    const { resources } = podLevelResources(ofPod(spec, running), undefined, small);
    expect(resources).toEqual({ requests: { cpu: '1m', memory: '1536Mi' }, limits: { cpu: '5m' } });
  });

  it('stay as they were where there is no cgroup to ask, unless the former status was not of a running pod', () => {
    const resources = { requests: { cpu: '7', memory: '7Mi' }, limits: { cpu: '8', memory: '8Mi' } };
    const of = (phase: string) =>
      podLevelResources(ofPod({ containers: two }, running), { phase, resources }, undefined).resources;
    expect(of('Running')).toEqual(resources);
    expect(of('Pending')).toEqual({ requests: { memory: '1536Mi' } });
  });
});
