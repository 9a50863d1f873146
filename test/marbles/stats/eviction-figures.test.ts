import { map, of, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import type { ImageFsInfoResponse } from '../../../src/generated/runtime/v1/api.js';
import { observationsOf } from '../../../src/model/eviction/figures.js';
import type { DiskFigures, NodeSample, PodSample } from '../../../src/model/stats/node-sample.js';
import { figuresFrom } from '../../../src/streams/stats/eviction-figures.js';
import { marbles } from '../marbles.js';

const disk = (availableBytes: number, inodes = 100): DiskFigures => ({
  timeMs: 7,
  fileSystem: { capacityBytes: 1_000, availableBytes, usedBytes: 1_000 - availableBytes, inodes, inodesFree: 60 },
  usedBytes: 11,
  inodesUsed: 12,
});
const pod = {
  ref: { uid: 'a', namespace: 'default', name: 'a' },
  usage: { workingSet: 5 },
  processes: 3,
  containers: [{ name: 'main', usage: { workingSet: 4 }, rootfs: disk(1), logs: undefined }],
  volumes: [{ name: 'v', isEphemeral: true, disk: disk(1) }],
  hostsFile: undefined,
} as unknown as PodSample;
const sample = {
  timeMs: 8,
  node: {
    usage: { timeMs: 5, available: 300, workingSet: 700 },
    disk: disk(400),
    imageDisk: disk(500, 0),
    containerDisk: undefined,
    tasks: { timeMs: 9, most: 1_000, current: 990 },
  },
  systemContainers: [
    { name: 'kubelet', usage: { timeMs: 5, available: 1, workingSet: 1 } },
    { name: 'pods', usage: { timeMs: 6, available: 20, workingSet: 80 } },
  ],
  pods: [pod],
} as unknown as NodeSample;

const mounted = (image: string | undefined, container?: string) => ({
  imageFsInfo: () =>
    of({
      imageFilesystems: image === undefined ? [] : [{ fsId: { mountpoint: image } }],
      containerFilesystems: container === undefined ? [] : [{ fsId: { mountpoint: container } }],
    } as unknown as ImageFsInfoResponse),
});
type Parts = Parameters<typeof figuresFrom>;
const figures = ({ summary = sample, ...over }: Partial<Parts[1]> & { readonly summary?: NodeSample } = {}) =>
  figuresFrom(
    { node$: of(sample), summaryOf: () => of(summary) },
    {
      images: mounted('/images'),
      reader: { device: (path) => of(`device of ${path}`) },
      rootDirectory: '/root-dir',
      ...over,
    },
  );

it('the signals of a sample are those that it has figures for, disks at the time of the sample, inodes only where the file system counts them', () => {
  expect(observationsOf(sample)).toEqual({
    'memory.available': { available: 300, capacity: 1_000, timeMs: 5 },
    'allocatableMemory.available': { available: 20, capacity: 100, timeMs: 6 },
    'nodefs.available': { available: 400, capacity: 1_000, timeMs: 8 },
    'nodefs.inodesFree': { available: 60, capacity: 100, timeMs: 8 },
    'imagefs.available': { available: 500, capacity: 1_000, timeMs: 8 },
    'pid.available': { available: 10, capacity: 1_000, timeMs: 9 },
  });
});

it(
  'the usage of pods leaves out what is not known',
  marbles(({ expectObservable }) => {
    const use = { bytes: 11, inodes: 12 };
    const a = {
      ...{ uid: 'a', workingSet: 5, processes: 3 },
      containers: [{ name: 'main', workingSet: 4, rootfs: use }],
      volumes: [{ name: 'v', isEphemeral: true, ...use }],
    };
    expectObservable(figures().pods([])).toBe('(p|)', { p: [a] });
  }),
);

it(
  'pods that the runtime cannot list are an error: without figures the wrong one would go first',
  marbles(({ expectObservable }) => {
    const summary = { ...sample, failure: 'down', pods: [] };
    expectObservable(figures({ summary }).pods([])).toBe('#', {}, new Error('down'));
  }),
);

it(
  'writable layers are on the device of images unless the runtime names another one',
  marbles(({ expectObservable }) => {
    const [node, images] = ['device of /root-dir', 'device of /images'];
    expectObservable(figures().devices()).toBe('(d|)', { d: { node, images, containers: images } });
    const split = figures({ images: mounted('/images', '/layers') });
    expectObservable(split.devices()).toBe('(d|)', { d: { node, images, containers: 'device of /layers' } });
  }),
);

it(
  'a runtime that does not say where its images are, or a device that cannot be read, is an error',
  marbles(({ expectObservable }) => {
    const none = figures({ images: mounted(undefined) });
    const message = map(() => '');
    const unknown = new Error('the runtime does not say where its images are');
    expectObservable(none.devices().pipe(message)).toBe('#', {}, unknown);
    const unread = figures({ reader: { device: () => throwError(() => new Error('gone')) } });
    expectObservable(unread.devices().pipe(message)).toBe('#', {}, new Error('gone'));
  }),
);
