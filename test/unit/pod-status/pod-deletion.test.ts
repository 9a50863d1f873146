import { describe, expect, it } from 'vitest';
import { canBeDeleted } from '../../../src/model/pod-status/pod-deletion.js';
import { rejectedPodStatus } from '../../../src/model/pod-status/rejected-pod-status.js';
import { CONFIG_MIRROR_ANNOTATION } from '../../../src/model/pod/pod.js';
import { aPod, type PodSketch } from '../../support/a-pod.js';

describe('a pod', () => {
  const gone: PodSketch = { source: 'api', phase: 'Failed', deletionTimestamp: '2026-01-01T00:00:00Z' };
  it.each<[what: string, sketch: PodSketch, isFinished: boolean, expected: boolean]>([
    ['may go from the API when it is deleted, has ended there and nothing is left', gone, true, true],
    ['stays while something of it is left', gone, false, false],
    ['stays until the API knows of its end', { ...gone, phase: 'Running' }, true, false],
    ['stays while no client deletes it', { source: 'api', phase: 'Failed' }, true, false],
    ['that is a mirror stays', { ...gone, annotations: { [CONFIG_MIRROR_ANNOTATION]: 'h' } }, true, false],
  ])('%s', (_what, sketch, isFinished, expected) => {
    expect(canBeDeleted(aPod(sketch), isFinished)).toBe(expected);
  });

  it('that was rejected says that and nothing else', () => {
    const pod = aPod({ source: 'api' });
    const rejection = { reason: 'OutOfcpu', message: 'no room' };
    const expected = {
      phase: 'Failed',
      reason: 'OutOfcpu',
      message: 'Pod was rejected: no room',
      qosClass: 'BestEffort',
    };
    const now = Date.UTC(2026, 0, 1);
    const seen = { ...pod, metadata: { ...pod.metadata, generation: 2 }, status: { startTime: 'then' } };
    expect(rejectedPodStatus(pod, rejection, now)).toEqual({ ...expected, startTime: '2026-01-01T00:00:00Z' });
    expect(rejectedPodStatus(seen, rejection, now)).toEqual({ ...expected, startTime: 'then', observedGeneration: 2 });
  });
});
