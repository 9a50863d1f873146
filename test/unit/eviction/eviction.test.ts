import { describe, expect, it } from 'vitest';
import { admitUnderPressure } from '../../../src/model/eviction/admit-under-pressure.js';
import { evictedStatus } from '../../../src/model/eviction/evicted-status.js';
import { evictionGraceSeconds } from '../../../src/model/eviction/eviction-policy.js';
import { evictionForLimit, evictionForShortage } from '../../../src/model/eviction/eviction.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { disk, figuresOf, memory, memoryBelow, MI } from '../../support/eviction-parts.js';

const POLICY = { maxPodGraceSeconds: 0 };
const apiPod = (uid: string, spec: Partial<PodSpec> = {}) => aPod({ uid, name: uid, source: 'api', spec });
const container = (name: string, requests: Readonly<Record<string, string>>) => ({
  name,
  image: 'i',
  resources: { requests },
});

describe('an eviction', () => {
  it('for memory names the threshold, what is available, and each container above its request', () => {
    const shortage = {
      threshold: memoryBelow(100),
      observations: memory(64, 5),
      layout: 'single' as const,
    };
    const greedy = apiPod('greedy', {
      containers: [container('main', { memory: '32Mi' }), container('small', { memory: '64Mi' })],
      initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }],
    });
    const figures = figuresOf('greedy', {
      workingSet: 200 * MI,
      containers: [
        { name: 'main', workingSet: 100 * MI },
        { name: 'small', workingSet: 64 * MI },
        { name: 'side', workingSet: 36 * MI + 1 },
      ],
    });
    const modest = figuresOf('modest', { workingSet: MI });
    const eviction = evictionForShortage(shortage, [apiPod('modest'), greedy], [figures, modest], POLICY);
    expect(eviction).toEqual({
      pod: greedy,
      signal: 'memory.available',
      graceSeconds: 1,
      message:
        'The node was low on resource: memory. Threshold quantity: 100Mi, available: 64Mi. ' +
        'Container main was using 100Mi, request is 32Mi, has larger consumption of memory. ' +
        'Container side was using 37748737, request is 0, has larger consumption of memory. ',
      annotations: {
        offending_containers: 'main,side',
        offending_containers_usage: '100Mi,37748737',
        starved_resource: 'memory',
      },
      reason:
        'the node is short of memory (memory.available: 64Mi available, less than 100Mi); the pod ranks first of 2, ' +
        'the next one would be modest_default(modest)',
      isDisrupted: true,
      observedAt: 5,
    });
  });

  it('names a pod above a request of its own', () => {
    const pod = apiPod('whole', { resources: { requests: { memory: '10Mi' } }, containers: [container('main', {})] });
    const figures = figuresOf('whole', { workingSet: 20 * MI });
    const shortage = { threshold: memoryBelow(100), observations: memory(1), layout: 'single' as const };
    const eviction = evictionForShortage(shortage, [pod], [figures], POLICY);
    expect(eviction?.message).toContain(
      ' Pod whole was using 20Mi, request is 10Mi, has larger consumption of memory. ',
    );
    expect(eviction?.annotations).toMatchObject({ offending_pod: 'whole', offending_pod_usage: '20Mi' });
  });

  it('for disk space counts the layer and the logs of a container, and for inodes names none', () => {
    const pod = apiPod('a', { containers: [container('main', { 'ephemeral-storage': '1k' })] });
    const figures = figuresOf('a', { containers: [{ name: 'main', rootfs: { bytes: 1_000 }, logs: { bytes: 500 } }] });
    const messageOf = (signal: 'nodefs.available' | 'nodefs.inodesFree') =>
      evictionForShortage(
        { threshold: { signal, value: { share: 0.1 }, gracePeriodMs: 0 }, observations: disk(48, 3), layout: 'single' },
        [pod],
        [figures],
        POLICY,
      )?.message;
    expect(messageOf('nodefs.available')).toBe(
      'The node was low on resource: ephemeral-storage. Threshold quantity: 100, available: 48. ' +
        'Container main was using 1500, request is 1k, has larger consumption of ephemeral-storage. ',
    );
    expect(messageOf('nodefs.inodesFree')).toBe(
      'The node was low on resource: inodes. Threshold quantity: 10, available: 3. ',
    );
  });

  it('passes over critical pods, and is none if there are no others', () => {
    const shortage = { threshold: memoryBelow(100), observations: memory(1), layout: 'single' as const };
    const critical = [aPod({ uid: 'static' }), apiPod('system', { priority: 2_000_000_000 })];
    const uidOf = (pods: readonly ReturnType<typeof aPod>[]) =>
      evictionForShortage(shortage, pods, [figuresOf('plain', { workingSet: MI })], POLICY)?.pod.metadata.uid;
    expect(uidOf([...critical, apiPod('plain')])).toBe('plain');
    expect(uidOf(critical)).toBeUndefined();
  });

  it('for a limit of the pod itself is no disruption', () => {
    const eviction = evictionForLimit(apiPod('a'), { signal: 'emptydirfs.limit', message: 'Too large. ' });
    expect(eviction).toMatchObject({
      signal: 'emptydirfs.limit',
      graceSeconds: 1,
      message: 'Too large. ',
      isDisrupted: false,
      reason: 'the pod takes more local storage than its limit: Too large.',
    });
  });
});

it.each([
  ['hard', 0, 60, 30, 1],
  ['soft, with a period of the policy below its own', 1, 20, 30, 20],
  ['soft, with a period of its own below that of the policy', 1, 60, 30, 30],
  ['soft, without one of its own', 1, 60, undefined, 60],
  ['soft, by the default of the policy', 1, 0, 30, 1],
  ['soft, by a negative one', 1, -1, 30, 1],
])('the grace period of an eviction: %s', (_, gracePeriodMs, maxPodGraceSeconds, own, expected) => {
  const pod = apiPod('a', { terminationGracePeriodSeconds: own });
  expect(evictionGraceSeconds(memoryBelow(1, { gracePeriodMs }), { maxPodGraceSeconds }, pod)).toBe(expected);
});

it('the status of an evicted pod is Failed with the message, and a shortage of the node is its DisruptionTarget', () => {
  const status = (isDisrupted: boolean) =>
    evictedStatus(apiPod('a'), { message: 'Low. ', isDisrupted, now: 0 })({ phase: 'Running', conditions: [] });
  expect(status(false)).toEqual({ phase: 'Failed', reason: 'Evicted', message: 'Low. ', conditions: [] });
  expect(status(true).conditions).toEqual([
    {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'TerminationByKubelet',
      message: 'Low. ',
      lastTransitionTime: '1970-01-01T00:00:00Z',
    },
  ]);
});

describe('a node under pressure', () => {
  const bestEffort = apiPod('a');
  const burstable = apiPod('b', { containers: [container('main', { memory: '1Mi' })] });
  const tolerating = (effect?: string) =>
    apiPod('t', {
      tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', ...(effect && { effect }) }],
    });
  const NONE = { memory: false, disk: false, pid: false };
  const evicted = (conditions: string) => ({
    reason: 'Evicted',
    message: `The node had condition: [${conditions}]. `,
  });
  it.each([
    ['admits any pod without a condition', NONE, bestEffort, undefined],
    [
      'rejects one that requests nothing when memory is short',
      { ...NONE, memory: true },
      bestEffort,
      evicted('MemoryPressure'),
    ],
    ['admits one that requests some memory', { ...NONE, memory: true }, burstable, undefined],
    ['admits one that tolerates the taint', { ...NONE, memory: true }, tolerating('NoSchedule'), undefined],
    ['admits one that tolerates every effect', { ...NONE, memory: true }, tolerating(), undefined],
    [
      'rejects one that tolerates another effect',
      { ...NONE, memory: true },
      tolerating('NoExecute'),
      evicted('MemoryPressure'),
    ],
    ['rejects both when the disk is short', { ...NONE, disk: true }, burstable, evicted('DiskPressure')],
    [
      'rejects both when memory is not all that is short',
      { memory: true, disk: false, pid: true },
      burstable,
      evicted('MemoryPressure PIDPressure'),
    ],
    ['admits a static pod', { memory: true, disk: true, pid: true }, aPod(), undefined],
    ['admits a critical pod', { ...NONE, disk: true }, apiPod('c', { priority: 2_000_000_000 }), undefined],
  ])('%s', (_, pressure, pod, expected) => {
    expect(admitUnderPressure(() => pressure)(pod, [])).toEqual(expected);
  });
});
