import { describe, expect, it } from 'vitest';
import { mergePodStatus } from '../../../src/model/pod-status/merge-pod-status.js';
import type { PodCondition, PodStatus } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

const NOW = Date.UTC(2026, 0, 2);
const now = '2026-01-02T00:00:00Z';
const then = '2026-01-01T00:00:00Z';

const is = (type: string, status: string, more: Partial<PodCondition> = {}): PodCondition => ({
  ...{ type, status, lastTransitionTime: then },
  ...more,
});
const foreign = is('example.com/gate', 'True');
const disruption = is('DisruptionTarget', 'True', { reason: 'TerminationByKubelet' });

const merged = (api: PodStatus, own: PodStatus, couldHaveRunningContainers = false): PodStatus => {
  const pod = aPod({ source: 'api' });
  const metadata = { ...pod.metadata, generation: 3 };
  return mergePodStatus({ api: { metadata, status: api }, own, couldHaveRunningContainers, now: NOW });
};
/** What a status has to say, as plain JSON. */
const said = (status: PodStatus): unknown => JSON.parse(JSON.stringify(status));

describe('the status for the API', () => {
  it('has the conditions of others as the API has them, and those of this agent as it sees them', () => {
    const api = { conditions: [is('Ready', 'False'), foreign, is('PodScheduled', 'True')] };
    const own = { phase: 'Running', conditions: [is('example.com/gate', 'False'), is('Ready', 'True')] };
    expect(said(merged(api, own))).toEqual({ phase: 'Running', conditions: [foreign, is('Ready', 'True')] });
  });

  it('has the fields that others write, and none that no writer writes any more', () => {
    const api = { phase: 'Running', resourceClaimStatuses: [{ name: 'c' }], nominatedNodeName: 'n' } as PodStatus;
    expect(said(merged(api, { phase: 'Running' }))).toEqual({
      phase: 'Running',
      conditions: [],
      resourceClaimStatuses: [{ name: 'c' }],
    });
  });

  it('keeps the start that the API has, unless it is of a mirror, which stays while its pod comes and goes', () => {
    const [api, own] = [
      { phase: 'Running', startTime: then },
      { phase: 'Running', startTime: now },
    ];
    expect(merged(api, own).startTime).toBe(then);
    expect(merged({ phase: 'Pending' }, own).startTime).toBe(now);
    const { metadata } = aPod({ annotations: { 'kubernetes.io/config.mirror': 'h' } });
    const mirror = { metadata, status: api };
    expect(mergePodStatus({ api: mirror, own, couldHaveRunningContainers: false, now: NOW }).startTime).toBe(now);
  });

  it('does not end while containers could run', () => {
    const api = { phase: 'Running', message: 'before' };
    const own = { phase: 'Failed', reason: 'Evicted', message: 'after', conditions: [disruption] };
    expect(said(merged(api, own, true))).toEqual({ phase: 'Running', message: 'before', conditions: [] });
  });

  it('says what has disrupted the pod when it ends, and not before', () => {
    const own = { phase: 'Failed', conditions: [disruption] };
    const told = { ...disruption, lastTransitionTime: now };
    expect(merged({ phase: 'Running' }, own).conditions).toEqual([told]);
    expect(merged({ phase: 'Running' }, { ...own, phase: 'Running' }).conditions).toEqual([]);
    expect(merged({ phase: 'Failed' }, own).conditions).toEqual([]);
  });

  it.each<[what: string, status: string, at: string]>([
    ['keeps its time when another writer has said it before', 'True', then],
    ['has a new time when another writer has denied it', 'False', now],
  ])('replaces a disruption, which %s', (_what, status, at) => {
    const api = { phase: 'Running', conditions: [is('DisruptionTarget', status, { reason: 'Other' }), foreign] };
    const own = { phase: 'Failed', conditions: [disruption] };
    expect(merged(api, own).conditions).toEqual([{ ...disruption, lastTransitionTime: at }, foreign]);
  });

  it.each([
    ['Failed', 'PodFailed'],
    ['Succeeded', 'PodCompleted'],
  ])('of a pod that is %s is not ready: %s', (phase, reason) => {
    const api = { phase: 'Running', conditions: [is('ContainersReady', 'False', { lastTransitionTime: 'earlier' })] };
    const own = { phase, conditions: [is('Ready', 'True'), is('ContainersReady', 'False'), is('Initialized', 'True')] };
    const unready = { status: 'False', reason, observedGeneration: 3 };
    expect(merged(api, own).conditions).toEqual([
      { type: 'Ready', lastTransitionTime: now, ...unready },
      { type: 'ContainersReady', lastTransitionTime: 'earlier', ...unready },
      is('Initialized', 'True'),
    ]);
  });

  it('of a pod that has ended keeps why it is not ready', () => {
    const conditions = [is('Ready', 'False', { reason: 'PodCompleted' })];
    expect(merged({}, { phase: 'Succeeded', conditions }).conditions).toEqual(conditions);
  });
});
