import { describe, expect, it } from 'vitest';
import { startedBy } from '../../../src/model/pod-status/started-by.js';
import { type RuntimePodStatus, emptyPodStatus, oldestTraceOf } from '../../../src/model/pleg/runtime-pod.js';
import { aPod } from '../../support/a-pod.js';

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);

describe('the start of a pod as it is shown', () => {
  const pod = { ...aPod(), status: { phase: 'Running', startTime: '2026-01-01T12:00:00Z' } };

  it.each([
    ['is that of the status where nothing else is known', undefined, '12:00:00'],
    ['is earlier where something of the pod was there before the agent', at('11:02:03.9'), '11:02:03'],
    ['is that of the status where all of it came later', at('12:00:01'), '12:00:00'],
  ])('%s', (_, knownAt, expected) => {
    expect(startedBy(pod, knownAt).status).toEqual({ phase: 'Running', startTime: `2026-01-01T${expected}Z` });
  });

  it('is not there before the agent has said anything of the pod', () => {
    expect(startedBy(aPod(), at('11:00:00')).status?.startTime).toBeUndefined();
  });
});

describe('the oldest trace of a pod', () => {
  const seen = (sandboxes: readonly bigint[], containers: readonly bigint[]) =>
    oldestTraceOf({
      ...emptyPodStatus({ uid: 'u', namespace: 'n', name: 'p' }),
      sandboxes: sandboxes.map((createdAt) => ({ createdAt })),
      containers: containers.map((createdAt) => ({ createdAt })),
    } as unknown as RuntimePodStatus);

  it.each([
    ['is nothing where the runtime shows nothing', [], [], undefined],
    ['is the first sandbox', [9_000_000n, 3_999_999n], [5_000_000n], 3],
    ['is a container whose sandbox is gone', [9_000_000n], [5_000_000n], 5],
    ['is not a time that the runtime does not know', [0n], [5_000_000n], 5],
  ])('%s', (_, sandboxes, containers, expected) => {
    expect(seen(sandboxes, containers)).toBe(expected);
  });
});
