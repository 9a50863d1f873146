import { describe, expect, it } from 'vitest';
import {
  collectsNoImages,
  DEFAULT_IMAGE_GC,
  detectImages,
  type ImageRecord,
  imagesInEvictionOrder,
  imagesStay,
  isTooOld,
  judgeDisk,
  mayMakeRoom,
  notEnoughRoom,
  oldImagesStay,
  sandboxImageOf,
} from '../../../src/model/images/image-gc.js';
import { anImage } from '../../support/an-image.js';

const MINUTE = 60_000;
const record = (id: string, fields: Partial<ImageRecord> = {}): ImageRecord => ({
  ...{ id, firstDetected: 0, lastUsed: -Infinity, bytes: 100n, isPinned: false },
  ...fields,
});
const look = (names: readonly string[], at: number) => ({ names: new Set(names), begunAt: at, endedAt: at + 5 });
const recordsOf = (...records: readonly ImageRecord[]) => new Map(records.map((one) => [one.id, one]));

describe('a listing of the images', () => {
  it('finds new ones, keeps when they were found, and forgets those that have vanished', () => {
    const first = detectImages(new Map(), [anImage('a'), anImage('b')], look([], 10));
    expect([...first.values()]).toEqual([record('a', { firstDetected: 10 }), record('b', { firstDetected: 10 })]);
    const second = detectImages(first, [anImage('b', { size: 7n, pinned: true }), anImage('c')], look([], 20));
    expect([...second.values()]).toEqual([
      record('b', { firstDetected: 10, bytes: 7n, isPinned: true }),
      record('c', { firstDetected: 20 }),
    ]);
  });

  it.each([
    { by: 'its id', name: 'sha256:1' },
    { by: 'a digest', name: 'r/app@sha256:2' },
    { by: 'a tag', name: 'r/app:1' },
  ])('sees that one is used by $by, and remembers when', ({ name }) => {
    const image = anImage('sha256:1', { repoDigests: ['r/app@sha256:2'], repoTags: ['r/app:0', 'r/app:1'] });
    const used = detectImages(new Map(), [image], look([name], 10));
    expect(used.get('sha256:1')?.lastUsed).toBe(15);
    expect(detectImages(used, [image], look(['r/other:1'], 20)).get('sha256:1')?.lastUsed).toBe(15);
  });
});

it('those that go first were not used for longest, then are known for longest; those in use and pinned ones stay', () => {
  const records = recordsOf(
    record('recent', { lastUsed: 80 }),
    record('in use', { lastUsed: 100 }),
    record('seen since', { lastUsed: 105 }),
    record('pinned', { isPinned: true }),
    record('new', { firstDetected: 60 }),
    record('long ago', { lastUsed: 20, firstDetected: 70 }),
    record('old', { firstDetected: 50 }),
  );
  const order = imagesInEvictionOrder(records, 100).map(({ id }) => id);
  expect(order).toEqual(['old', 'new', 'long ago', 'recent']);
});

describe('the age of an image', () => {
  const policy = { ...DEFAULT_IMAGE_GC, maxAgeMs: 10 * MINUTE };
  it.each([
    { case: 'never used, while the agent is younger than that', image: {}, at: 10, tooOld: false },
    { case: 'never used', image: {}, at: 10.01, tooOld: true },
    { case: 'never used, and there for a short time', image: { firstDetected: 5 * MINUTE }, at: 15, tooOld: false },
    { case: 'used since', image: { lastUsed: 5 * MINUTE }, at: 15, tooOld: false },
    { case: 'used before', image: { lastUsed: 5 * MINUTE }, at: 15.01, tooOld: true },
  ])('$case, after $at min: too old is $tooOld', ({ image, at, tooOld }) => {
    const moment = { now: at * MINUTE, startedAt: 0 };
    expect(isTooOld(record('a', image), policy, moment)).toBe(tooOld);
    expect(isTooOld(record('a', image), DEFAULT_IMAGE_GC, moment)).toBe(false);
  });

  it.each([
    { at: 2 * MINUTE - 1, may: false },
    { at: 2 * MINUTE, may: true },
  ])('lets it make room from 2 minutes on: after $at ms $may', ({ at, may }) => {
    expect(mayMakeRoom(record('a'), DEFAULT_IMAGE_GC, at)).toBe(may);
  });
});

describe('the disk', () => {
  const disk = (availableBytes: bigint, capacityBytes = 1000n) => ({ capacityBytes, availableBytes });
  it.each([
    { case: 'empty', disk: disk(1000n), usedPercent: 0, bytesToFree: 0n },
    { case: 'nearly too full', disk: disk(160n), usedPercent: 84, bytesToFree: 0n },
    { case: 'too full, since a percent begun is a percent used', disk: disk(159n), usedPercent: 85, bytesToFree: 41n },
    { case: 'full', disk: disk(0n), usedPercent: 100, bytesToFree: 200n },
    { case: 'with more room than it is large', disk: disk(2000n), usedPercent: 0, bytesToFree: 0n },
    {
      case: 'very large',
      disk: disk(1n, 1n << 62n),
      usedPercent: 100,
      bytesToFree: ((1n << 62n) * 20n) / 100n - 1n,
    },
  ])('$case', ({ disk, usedPercent, bytesToFree }) => {
    expect(judgeDisk(disk, DEFAULT_IMAGE_GC)).toEqual({ usedPercent, bytesToFree });
  });

  it('without a capacity cannot be judged', () => {
    expect(judgeDisk(disk(0n, 0n), DEFAULT_IMAGE_GC)).toBeUndefined();
  });

  it.each([
    [1023n, '1023 B'],
    [1536n, '1.5 KiB'],
    [10n << 20n, '10.0 MiB'],
    [100n << 30n, '100.0 GiB'],
    [5000n << 40n, '5000.0 TiB'],
  ])('of %s bytes is written as %s', (capacityBytes, text) => {
    const message = notEnoughRoom({ usedPercent: 91, bytesToFree: 5n }, { capacityBytes, availableBytes: 0n }, 4n);
    expect(message).toBe(
      `Insufficient free disk space on the node's image filesystem (91% of ${text} used). Failed to free sufficient space by deleting unused images (freed 4 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`,
    );
  });
});

describe('images that could not be removed', () => {
  it('are said with what was wanted', () => {
    expect(oldImagesStay({ ...DEFAULT_IMAGE_GC, maxAgeMs: 90 * MINUTE }, ['busy'])).toBe(
      'wanted to free images older than 1h30m0s, encountered errors in image deletion: busy',
    );
    expect(imagesStay(10n, 3n, ['busy', 'away', 'busy'])).toBe(
      'wanted to free 10 bytes, but freed 3 bytes space with errors in image deletion: [busy, away]',
    );
  });
});

it.each([
  { policy: {}, nothing: false },
  { policy: { highThresholdPercent: 100 }, nothing: true },
  { policy: { highThresholdPercent: 100, maxAgeMs: 1 }, nothing: false },
])('$policy collects nothing: $nothing', ({ policy, nothing }) => {
  expect(collectsNoImages({ ...DEFAULT_IMAGE_GC, ...policy })).toBe(nothing);
});

it.each([
  { info: { config: '{"sandboxImage":"registry.test/pause:3"}' }, image: 'registry.test/pause:3' },
  { info: { config: '{"sandboxImage":""}' }, image: undefined },
  { info: { config: '{"sandboxImage":3}' }, image: undefined },
  { info: { config: '{}' }, image: undefined },
  { info: { config: 'null' }, image: undefined },
  { info: { config: 'no JSON' }, image: undefined },
  { info: {}, image: undefined },
])('a runtime that says $info makes sandboxes of $image', ({ info, image }) => {
  expect(sandboxImageOf(info as Record<string, string>)).toBe(image);
});
