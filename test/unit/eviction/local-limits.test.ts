import { expect, it } from 'vitest';
import type { PodFigures } from '../../../src/model/eviction/figures.js';
import { exceededLimit, hasLocalLimit } from '../../../src/model/eviction/local-limits.js';
import type { DiskLayout } from '../../../src/model/eviction/signals.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { figuresOf } from '../../support/eviction-parts.js';

const container = (name: string, limit?: string) => ({
  name,
  image: 'i',
  ...(limit && { resources: { limits: { 'ephemeral-storage': limit } } }),
});
const emptyDir = (sizeLimit?: string) => [{ name: 'v', emptyDir: { ...(sizeLimit && { sizeLimit }) } }];
const used = (rootfs: number, logs: number, volume: number, hostsFile = 0): Partial<PodFigures> => ({
  containers: [{ name: 'main', rootfs: { bytes: rootfs }, logs: { bytes: logs } }],
  volumes: [{ name: 'v', isEphemeral: true, bytes: volume }],
  hostsFile: { bytes: hostsFile },
});

type Row = readonly [what: string, spec: Partial<PodSpec>, Partial<PodFigures>, DiskLayout, string | undefined];
it.each<Row>([
  [
    'an emptyDir above its size',
    { volumes: emptyDir('1k') },
    used(0, 0, 1_001),
    'single',
    'emptydirfs.limit: Usage of EmptyDir volume "v" exceeds the limit "1k". ',
  ],
  ['an emptyDir of just its size', { volumes: emptyDir('1k') }, used(0, 0, 1_000), 'single', undefined],
  ['an emptyDir without a size', { volumes: emptyDir() }, used(0, 0, 9_999), 'single', undefined],
  ['an emptyDir of size 0, which is no limit', { volumes: emptyDir('0') }, used(0, 0, 9_999), 'single', undefined],
  ['an emptyDir whose use is not known', { volumes: emptyDir('1k') }, { volumes: [] }, 'single', undefined],
  [
    'a pod above the sum of its limits',
    { containers: [container('main', '600'), container('side', '424')] },
    used(1_000, 20, 0, 5),
    'single',
    'ephemeralpodfs.limit: Pod ephemeral local storage usage exceeds the total limit of containers 1024. ',
  ],
  [
    'a pod whose hosts file just fits',
    { containers: [container('main', '600'), container('side', '424')] },
    used(500, 20, 499, 5),
    'single',
    undefined,
  ],
  [
    'a container above its own limit, in a pod that is not',
    { containers: [container('main', '100'), container('side', '900')] },
    used(60, 41, 0),
    'single',
    'ephemeralcontainerfs.limit: Container main exceeded its local ephemeral storage limit "100". ',
  ],
  [
    'a container whose layer is on the file system of images',
    { containers: [container('main', '100'), container('side', '900')] },
    used(9_000, 41, 0),
    'dedicated-images',
    undefined,
  ],
  [
    'an emptyDir first, though the pod is above its limit, too',
    { containers: [container('main', '1')], volumes: emptyDir('1') },
    used(5, 5, 5),
    'single',
    'emptydirfs.limit: Usage of EmptyDir volume "v" exceeds the limit "1". ',
  ],
  ['a pod without limits', { containers: [container('main')] }, used(9, 9, 9), 'single', undefined],
])('the limit that a pod exceeds: %s', (_, spec, figures, layout, expected) => {
  const exceeded = exceededLimit(aPod({ spec }), figuresOf('uid-1', figures), layout);
  expect(exceeded && `${exceeded.signal}: ${exceeded.message}`).toBe(expected);
});

it('a pod has a limit by the size of an emptyDir or by one of its containers', () => {
  const has = (spec: Partial<PodSpec>) => hasLocalLimit(aPod({ spec }));
  expect([{ volumes: emptyDir('1Gi') }, { containers: [container('main', '1Gi')] }].map(has)).toEqual([true, true]);
  expect([{}, { volumes: emptyDir() }].map(has)).toEqual([false, false]);
});
