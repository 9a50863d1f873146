import { describe, expect, it } from 'vitest';
import {
  afterFailedPull,
  decideImageBackOff,
  imageBackOffKey,
  isImageEntryStale,
} from '../../../src/model/images/image-back-off.js';
import { aPod } from '../pods.js';

const image = 'registry.example/app:1';

describe('decideImageBackOff', () => {
  it.each([
    ['no pull has failed', undefined, 0, { blocked: false }],
    [
      'right after the first failure',
      { delayMs: 10_000, lastUpdate: 5_000 },
      5_000,
      { blocked: true, delayMs: 10_000, leftMs: 10_000, step: 1, steps: 6 },
    ],
    ['when the delay is over', { delayMs: 10_000, lastUpdate: 5_000 }, 15_000, { blocked: false }],
    ['at the longest delay', { delayMs: 300_000, lastUpdate: 0 }, 299_999, { blocked: true, leftMs: 1, step: 6 }],
  ])('%s', (_, entry, now, expected) => {
    expect(decideImageBackOff({ entry, image, now })).toMatchObject(expected);
  });

  it('names the last failure', () => {
    const lastFailure = { reason: 'ErrImagePull', message: 'no such host' };
    expect(decideImageBackOff({ entry: { delayMs: 10_000, lastUpdate: 0 }, image, lastFailure, now: 1 })).toMatchObject(
      {
        message: 'Back-off pulling image "registry.example/app:1": ErrImagePull: no such host',
        eventMessage: 'Back-off pulling image "registry.example/app:1"',
      },
    );
  });
});

describe('afterFailedPull', () => {
  it('doubles up to five minutes, and starts over after ten idle ones', () => {
    const delays: number[] = [];
    let entry = afterFailedPull(undefined, 0);
    for (let failure = 0; failure < 7; failure += 1) {
      delays.push(entry.delayMs / 1000);
      entry = afterFailedPull(entry, entry.lastUpdate + entry.delayMs);
    }
    expect(delays).toEqual([10, 20, 40, 80, 160, 300, 300]);
    expect(afterFailedPull(entry, entry.lastUpdate + 600_001).delayMs).toBe(10_000);
  });
});

it('keeps a table per pod and image', () => {
  expect(imageBackOffKey(aPod(), image)).toBe('uid-1_registry.example/app:1');
});

it('forgets an entry after ten idle minutes', () => {
  expect(isImageEntryStale({ delayMs: 10_000, lastUpdate: 0 }, 600_000)).toBe(false);
  expect(isImageEntryStale({ delayMs: 10_000, lastUpdate: 0 }, 600_001)).toBe(true);
});
