import { expect, it } from 'vitest';
import { plainDuration } from '../../../src/model/values/plain-duration.js';

it.each([
  [-5, '0 s'],
  [400, '0 s'],
  [999, '1 s'],
  [37_000, '37 s'],
  [59_600, '1 min'],
  [125_000, '2 min 5 s'],
  [3_600_000, '1 h'],
  [3_661_000, '1 h 1 min'],
  [90_000_000, '1 d 1 h'],
])('says %i ms as %s', (ms, text) => {
  expect(plainDuration(ms)).toBe(text);
});
