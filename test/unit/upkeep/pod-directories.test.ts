import { expect, it } from 'vitest';
import { countOrphans, mountedReason, volumesReason } from '../../../src/model/upkeep/pod-directories.js';

it('a directory with a mount stays, and the first mount is the reason', () => {
  expect(mountedReason([])).toBeUndefined();
  expect(mountedReason(['/p/a', '/p/b'])).toBe('something is mounted at /p/a');
});

it('a directory with volumes of a plugin stays, and the first volume is the reason', () => {
  expect(volumesReason('kubernetes.io~secret', [])).toBeUndefined();
  expect(volumesReason('kubernetes.io~secret', ['a', 'b'])).toBe('it still has volumes: kubernetes.io~secret/a');
});

it('all pods that are over are counted, and apart from that those whose directory stays', () => {
  expect(countOrphans([])).toEqual({ pods: 0, failed: 0 });
  expect(countOrphans(['removed', 'stays', 'removed'])).toEqual({ pods: 3, failed: 1 });
});
