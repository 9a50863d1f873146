import { expect, it } from 'vitest';
import { SettledVolumes } from '../../../src/model/volumes/settled-volumes.js';

const settledAt = (at: number): SettledVolumes => {
  const settled = new SettledVolumes();
  settled.settle('u', 'v', { print: 'p', at });
  return settled;
};

it.each([
  { print: 'p', ageMs: 0, isUnchanged: true, isRecent: true },
  { print: 'other', ageMs: 0, isUnchanged: false, isRecent: true },
  { print: 'p', ageMs: 59_999, isUnchanged: true, isRecent: true },
  { print: 'p', ageMs: 60_000, isUnchanged: true, isRecent: false },
  { print: 'p', ageMs: 599_999, isUnchanged: true, isRecent: false },
  { print: 'p', ageMs: 600_000, isUnchanged: false, isRecent: false },
])(
  'a volume $ageMs ms after its set-up, now with print $print: unchanged $isUnchanged, recent $isRecent',
  ({ print, ageMs, isUnchanged, isRecent }) => {
    const settled = settledAt(1_000);
    expect(settled.isUnchanged('u', 'v', print, 1_000 + ageMs)).toBe(isUnchanged);
    expect(settled.isRecent('u', 'v', 1_000 + ageMs)).toBe(isRecent);
  },
);

it('a volume that is forgotten, of another pod, or of another name is neither', () => {
  const settled = settledAt(0);
  expect([settled.isUnchanged('u', 'w', 'p', 0), settled.isRecent('w', 'v', 0)]).toEqual([false, false]);
  settled.forget('u', 'v');
  expect([settled.isUnchanged('u', 'v', 'p', 0), settled.isRecent('u', 'v', 0)]).toEqual([false, false]);
});
