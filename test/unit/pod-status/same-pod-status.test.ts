import { describe, expect, it } from 'vitest';
import { podStatusPatch } from '../../../src/model/pod-status/pod-status-patch.js';
import { isSamePodStatus, normalizedPodStatus } from '../../../src/model/pod-status/same-pod-status.js';
import type { ContainerStatus, PodCondition, PodStatus } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

const ready = (more: Partial<PodCondition> = {}): PodStatus => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True', ...more }],
});

describe('two statuses', () => {
  it.each<[what: string, one: PodStatus, other: PodStatus]>([
    ['the order of fields', { phase: 'Running', podIP: '10.0.0.1' }, { podIP: '10.0.0.1', phase: 'Running' }],
    ['times of conditions', ready({ lastTransitionTime: 'a' }), ready({ lastTransitionTime: 'b' })],
    ['the generation that a condition has seen', ready({ observedGeneration: 1 }), ready({ observedGeneration: 2 })],
    ['a message that is empty', ready({ message: '' }), ready()],
    ['a list that is empty', { ...ready(), podIPs: [] }, ready()],
    [
      'a condition of another writer',
      { ...ready(), conditions: [{ type: 'x', status: 'True' }, ...(ready().conditions ?? [])] },
      ready(),
    ],
    ['claims', { ...ready(), resourceClaimStatuses: [{ name: 'c' }] }, ready()],
  ])('say the same except for %s', (_what, one, other) => {
    expect(isSamePodStatus(one, other)).toBe(true);
  });

  it.each<[what: string, one: PodStatus, other: PodStatus]>([
    ['phase', { phase: 'Pending' }, { phase: 'Running' }],
    ['status of a condition', ready(), ready({ status: 'False' })],
    ['reason of a condition', ready(), ready({ reason: 'x' })],
    ['message of a condition', ready(), ready({ message: 'x' })],
    ['condition', ready(), { phase: 'Running' }],
    ['disruption', { conditions: [{ type: 'DisruptionTarget', status: 'True' }] }, { conditions: [] }],
    ['generation', { observedGeneration: 1 }, { observedGeneration: 2 }],
    [
      'container',
      { containerStatuses: [{ name: 'a', ready: true } as ContainerStatus] },
      { containerStatuses: [{ name: 'a', ready: false } as ContainerStatus] },
    ],
  ])('differ by their %s', (_what, one, other) => {
    expect(isSamePodStatus(one, other)).toBe(false);
  });
});

describe('a status of the API', () => {
  it('has whole seconds and lists by name; texts that only look alike stay', () => {
    const containers = ['b', 'a'].map((name) => ({
      name,
      state: { running: { startedAt: '2026-01-01T00:00:00.9Z' } },
    }));
    const status = {
      startTime: '2026-01-01T00:00:00.123456789Z',
      message: 'at 2026-01-01T00:00:00.1Z',
      containerStatuses: containers,
    } as unknown as PodStatus;
    const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
    expect(normalizedPodStatus(status)).toEqual({
      startTime: '2026-01-01T00:00:00Z',
      message: 'at 2026-01-01T00:00:00.1Z',
      containerStatuses: [
        { name: 'a', state: running },
        { name: 'b', state: running },
      ],
    });
  });
});

describe('the patch of a status', () => {
  const pod = {
    metadata: { ...aPod().metadata, resourceVersion: '7' },
    status: { phase: 'Running', message: '', podIPs: [], reason: 'old' },
  };

  it('names the pod, and its version where it is pinned', () => {
    const status = { phase: 'Failed', reason: 'old' };
    expect(podStatusPatch(pod, status, { isPinned: true })).toEqual({
      metadata: { uid: 'uid-1', resourceVersion: '7' },
      status: { phase: 'Failed' },
    });
    expect(podStatusPatch(pod, status, { isPinned: false })?.['metadata']).toEqual({ uid: 'uid-1' });
  });

  it('is none when nothing is to be changed', () => {
    const status = { phase: 'Running', reason: 'old', conditions: [], containerStatuses: undefined };
    expect(podStatusPatch(pod, status, { isPinned: true })).toBeUndefined();
  });
});
