import { describe, expect, it } from 'vitest';
import type { PodCondition, PodStatus } from '../../../src/model/pod/pod.js';
import { shutdownStatus } from '../../../src/model/shutdown/shutdown-status.js';
import { aPod } from '../pods.js';

const NOW = Date.parse('2026-01-01T00:00:10.900Z');
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';
const ended = (status: PodStatus, metadata: Parameters<typeof aPod>[1] = {}): PodStatus =>
  shutdownStatus(aPod({}, metadata), NOW)(status);
const ready: PodCondition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
const disrupted: PodCondition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'TerminationByKubelet',
  message: MESSAGE,
  lastTransitionTime: '2026-01-01T00:00:10Z',
};

describe('the status of a pod that a shutdown stops', () => {
  it.each([
    ['Pending', 'Failed'],
    ['Running', 'Failed'],
    ['Unknown', 'Failed'],
    ['Failed', 'Failed'],
    ['Succeeded', 'Succeeded'],
    [undefined, 'Failed'],
  ])('the phase %s becomes %s, with the reason and the message of the shutdown', (phase, expected) => {
    expect(
      ended({ ...(phase !== undefined && { phase }), reason: 'Other', message: 'other', hostIP: '10.0.0.1' }),
    ).toEqual({
      phase: expected,
      reason: 'Terminated',
      message: MESSAGE,
      hostIP: '10.0.0.1',
      conditions: [disrupted],
    });
  });

  it('the condition DisruptionTarget is added behind the others', () => {
    expect(ended({ conditions: [ready] }).conditions).toEqual([ready, disrupted]);
  });

  it.each<[string, PodCondition, string]>([
    ['a false condition becomes true now', { ...disrupted, status: 'False', reason: 'x' }, '2026-01-01T00:00:10Z'],
    [
      'a true condition keeps its time',
      { ...disrupted, reason: 'EvictionByEvictionAPI', lastTransitionTime: '2025-12-31T23:59:59Z' },
      '2025-12-31T23:59:59Z',
    ],
  ])('%s, in its place and with the reason of the shutdown', (_, before, lastTransitionTime) => {
    expect(ended({ conditions: [before, ready] }).conditions).toEqual([{ ...disrupted, lastTransitionTime }, ready]);
  });

  it('the condition names the generation of the pod, if it has one', () => {
    expect(ended({}, { generation: 3 }).conditions).toEqual([{ ...disrupted, observedGeneration: 3 }]);
  });

  it('a second change of the status changes nothing', () => {
    const once = ended({ phase: 'Running', conditions: [ready] });
    expect(shutdownStatus(aPod(), NOW + 60_000)(once)).toEqual(once);
  });
});
