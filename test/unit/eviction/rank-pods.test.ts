import { expect, it } from 'vitest';
import type { PodFigures } from '../../../src/model/eviction/figures.js';
import { rankPods } from '../../../src/model/eviction/rank-pods.js';
import { type DiskLayout, diskLayout, type EvictionSignal, reclaimsOf } from '../../../src/model/eviction/signals.js';
import { aPod } from '../../support/a-pod.js';
import { figuresOf, MI } from '../../support/eviction-parts.js';

interface Sketch {
  readonly priority?: number;
  /** `memory` or `ephemeral-storage`, as a quantity. */
  readonly request?: string;
  readonly figures?: Partial<PodFigures> | 'none';
}

const ranked = (pods: Readonly<Record<string, Sketch>>, signal: EvictionSignal, layout: DiskLayout = 'single') => {
  const resource = signal.startsWith('memory') ? 'memory' : 'ephemeral-storage';
  const measured = Object.entries(pods).map(([uid, { priority, request, figures }]) => ({
    pod: aPod({
      uid,
      source: 'api',
      spec: {
        ...(priority !== undefined && { priority }),
        containers: [
          { name: 'main', image: 'i', ...(request && { resources: { requests: { [resource]: request } } }) },
        ],
      },
    }),
    figures: figures === 'none' ? undefined : figuresOf(uid, figures),
  }));
  return rankPods(measured, signal, layout).map(({ pod }) => pod.metadata.uid);
};
const uses = (mebibytes: number) => ({ workingSet: mebibytes * MI });

it.each<[what: string, pods: Readonly<Record<string, Sketch>>, order: readonly string[]]>([
  ['those without figures go first', { a: { figures: uses(500) }, b: { figures: 'none' } }, ['b', 'a']],
  [
    'those above their request go before others of a lower priority and larger use',
    { a: { figures: uses(500), request: '500Mi', priority: -5 }, b: { figures: uses(2), request: '1Mi', priority: 9 } },
    ['b', 'a'],
  ],
  [
    'of those above their requests, the lower priority goes first',
    { a: { figures: uses(900), priority: 1 }, b: { figures: uses(1), priority: 0 } },
    ['b', 'a'],
  ],
  [
    'of the same priority, the larger use above the request goes first',
    {
      a: { figures: uses(300), request: '200Mi' },
      b: { figures: uses(250), request: '100Mi' },
      c: { figures: uses(90) },
    },
    ['b', 'a', 'c'],
  ],
  [
    'below the request, the one that is nearest to it goes first',
    { a: { figures: uses(10), request: '200Mi' }, b: { figures: uses(90), request: '100Mi' } },
    ['b', 'a'],
  ],
])('short of memory: %s', (_, pods, order) => {
  expect(ranked(pods, 'memory.available')).toEqual(order);
});

it('pods of three priorities go by priority, while all are above their requests', () => {
  const pods = {
    high: { figures: uses(900), priority: 1_000 },
    none: { figures: uses(100) },
    low: { figures: uses(500), priority: -1_000 },
  };
  expect(ranked(pods, 'memory.available')).toEqual(['low', 'none', 'high']);
});

const onDisk = (rootfs: number, logs: number, volume: number): Partial<PodFigures> => ({
  containers: [{ name: 'main', rootfs: { bytes: rootfs, inodes: 100 - rootfs }, logs: { bytes: logs, inodes: 1 } }],
  volumes: [
    { name: 'v', isEphemeral: true, bytes: volume, inodes: 1 },
    { name: 'w', isEphemeral: false, bytes: 10_000, inodes: 10_000 },
  ],
});
const three = {
  layer: { figures: onDisk(50, 1, 1) },
  logs: { figures: onDisk(10, 30, 1) },
  volume: { figures: onDisk(20, 1, 25) },
};

it.each<[signal: EvictionSignal, layout: DiskLayout, order: readonly string[]]>([
  ['nodefs.available', 'single', ['layer', 'volume', 'logs']],
  ['imagefs.available', 'single', ['layer', 'volume', 'logs']],
  ['nodefs.inodesFree', 'single', ['logs', 'volume', 'layer']],
  ['nodefs.available', 'dedicated-images', ['logs', 'volume', 'layer']],
  ['imagefs.available', 'dedicated-images', ['layer', 'volume', 'logs']],
  ['containerfs.available', 'dedicated-images', ['layer', 'volume', 'logs']],
  ['containerfs.available', 'split', ['layer', 'volume', 'logs']],
])('short of %s with file systems %s, what is on that file system counts', (signal, layout, order) => {
  expect(ranked(three, signal, layout)).toEqual(order);
});

it('a request of storage counts, and an ephemeral volume alone does', () => {
  const pods = { a: { figures: onDisk(10, 10, 10), request: '29' }, b: { figures: onDisk(5, 5, 5) } };
  expect(ranked(pods, 'nodefs.available')).toEqual(['b', 'a']);
});

it('short of processes, priority goes before their number', () => {
  const pods = {
    many: { figures: { processes: 900 } },
    few: { figures: { processes: 3 }, priority: -1 },
    more: { figures: { processes: 950 } },
  };
  expect(ranked(pods, 'pid.available')).toEqual(['few', 'more', 'many']);
});

it('the devices of the file systems make the layout', () => {
  expect(diskLayout({ node: '1', images: '1', containers: '1' })).toBe('single');
  expect(diskLayout({ node: '1', images: '2', containers: '2' })).toBe('dedicated-images');
  expect(diskLayout({ node: '1', images: '2', containers: '1' })).toBe('split');
});

it.each<[layout: DiskLayout, nodefs: string, imagefs: string, containerfs: string]>([
  ['single', 'dead-containers,unused-images', 'dead-containers,unused-images', 'dead-containers,unused-images'],
  ['dedicated-images', '', 'dead-containers,unused-images', 'dead-containers,unused-images'],
  ['split', 'dead-containers', 'unused-images', 'dead-containers'],
])('with file systems %s, a node that is short removes what is on them', (layout, ...expected) => {
  const signals = ['nodefs.available', 'imagefs.inodesFree', 'containerfs.available'] as const;
  expect(signals.map((signal) => reclaimsOf(signal, layout).join(','))).toEqual(expected);
  expect(reclaimsOf('memory.available', layout)).toEqual([]);
  expect(reclaimsOf('pid.available', layout)).toEqual([]);
});
