import { describe, expect, it } from 'vitest';
import type { FilesystemUsage } from '../../../src/generated/runtime/v1/api.js';
import { mountPointsOf, nodeDisksOf } from '../../../src/model/stats/disk-of.js';
import { SPACE } from '../../support/stats-parts.js';

const usage = (mountpoint: string | undefined, bytes = 7n): FilesystemUsage => ({
  timestamp: 5_000_000n,
  fsId: mountpoint === undefined ? undefined : { mountpoint },
  usedBytes: { value: bytes },
  inodesUsed: { value: 2n },
});

it.each([
  { case: 'no usages have no mount points', usages: [], mountPoints: [] },
  {
    case: 'each mount point is named once, in order',
    usages: [usage('/b'), usage('/a'), usage('/b')],
    mountPoints: ['/b', '/a'],
  },
  {
    case: 'a usage without a mount point is left out',
    usages: [undefined, usage(undefined), usage('')],
    mountPoints: [],
  },
])('$case', ({ usages, mountPoints }) => {
  expect(mountPointsOf(usages)).toEqual(mountPoints);
});

describe('the file systems of a node', () => {
  const none = { image: undefined, container: undefined, problems: [] };

  it('the file systems of a node have the space of the directory of the agent at the time of its read', () => {
    expect(nodeDisksOf(none, SPACE, new Map(), 9)).toEqual({
      node: { timeMs: 9, fileSystem: SPACE, usedBytes: 600, inodesUsed: 40 },
      ...{ images: undefined, containers: undefined, fileSystems: new Map(), problems: [] },
    });
  });

  it('the file systems of a node have no used inodes where there is no limit of them', () => {
    const { node } = nodeDisksOf(none, { ...SPACE, inodes: 0, inodesFree: 0 }, new Map(), 9);
    expect(node?.inodesUsed).toBeUndefined();
  });

  it('the file systems of a node have the usage of images and containers with the spaces that could be read', () => {
    const spaces = new Map([
      ['/images', SPACE],
      ['/containers', undefined],
    ]);
    const info = { image: usage('/images'), container: usage('/containers', 3n), problems: ['EIO'] };
    expect(nodeDisksOf(info, undefined, spaces, 9)).toEqual({
      node: undefined,
      images: { timeMs: 5, fileSystem: SPACE, usedBytes: 7, inodesUsed: 2 },
      containers: { timeMs: 5, fileSystem: undefined, usedBytes: 3, inodesUsed: 2 },
      fileSystems: new Map([['/images', SPACE]]),
      problems: ['EIO'],
    });
  });
});
