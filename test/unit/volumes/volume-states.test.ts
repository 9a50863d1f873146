import { expect, it } from 'vitest';
import { countByPlugin, type VolumeCount } from '../../../src/model/volumes/volume-states.js';

const secret = { name: 's', secret: { secretName: 's' } };
const scratch = { name: 'e', emptyDir: {} };
const claim = { name: 'c', persistentVolumeClaim: { claimName: 'c' } };

it.each<{ case: string; volumes: Parameters<typeof countByPlugin>[0]; counts: readonly VolumeCount[] }>([
  { case: 'a node without volumes has no counts', volumes: [], counts: [] },
  {
    case: 'volumes are counted by their plugin, in the order in which the plugins occur',
    volumes: [
      { volume: secret, isWanted: true, isMounted: true },
      { volume: scratch, isWanted: true, isMounted: false },
      { volume: secret, isWanted: true, isMounted: false },
    ],
    counts: [
      { plugin: 'kubernetes.io/secret', desired: 2, actual: 1 },
      { plugin: 'kubernetes.io/empty-dir', desired: 1, actual: 0 },
    ],
  },
  {
    case: 'a volume that is taken down is actual until it is gone',
    volumes: [{ volume: scratch, isWanted: false, isMounted: true }],
    counts: [{ plugin: 'kubernetes.io/empty-dir', desired: 0, actual: 1 }],
  },
  {
    case: 'a volume without a plugin is counted under an empty name',
    volumes: [{ volume: claim, isWanted: true, isMounted: false }],
    counts: [{ plugin: '', desired: 1, actual: 0 }],
  },
])('$case', ({ volumes, counts }) => {
  expect(countByPlugin(volumes)).toEqual(counts);
});
