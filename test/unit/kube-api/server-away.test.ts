import { expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { isServerAway } from '../../../src/model/kube-api/server-away.js';

it.each([
  [undefined, true],
  [429, true],
  [500, true],
  [503, true],
  [400, false],
  [401, false],
  [403, false],
  [404, false],
  [410, false],
])('an answer with status %s says nothing of what was asked for: %s', (code, isAway) => {
  expect(isServerAway(new ApiError({ ...(code && { code }), message: 'any' }))).toBe(isAway);
});

it('an error of the agent itself is none of a server', () => {
  expect(isServerAway(new Error('any'))).toBe(false);
});
